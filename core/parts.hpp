// All admission rules, updates and compression rules. To add one, write a class in the file of its
// kind or in a file of its own, and add a line here.
//
// A recipe (learner.hpp) has one part of each kind. A part is made directly or by name:
//
//     std::make_shared<CoherenceAdmission>(0.5);
//     Admissions::make("admission", "coherence", parameters);
//
// - `make` throws InputError if there is no such name, or if the number of parameters is wrong.
// - Constructors do not check the values of parameters. The ranges are those of the Python classes
//   in src/parsimon/admission.py, updates/ and compression.py. recipes.hpp checks them.
// - Admissions have no state. Updates and compressions have state: each belongs to one learner, and
//   is used only by the thread that learns.
#pragma once

#include "admission.hpp"
#include "affine_projection.hpp"
#include "compression.hpp"
#include "dual_ascent.hpp"
#include "growing.hpp"
#include "losses.hpp"
#include "part_list.hpp"
#include "rls.hpp"
#include "updates.hpp"
#include "window.hpp"

namespace parsimon {

using Admissions = PartList<Admission,                   //
                            AlwaysAdmission,             //
                            ProposedAdmission,           //
                            CoherenceAdmission,          //
                            AdaptiveCoherenceAdmission,  //
                            DependenceAdmission,         //
                            ResidualAdmission,           //
                            DistanceAdmission>;

using Updates = PartList<Update,                   //
                         NLMSUpdate,               //
                         AffineProjectionUpdate,   //
                         PlainGradientUpdate,      //
                         ProjectedGradientUpdate,  //
                         QuantizedGradientUpdate,  //
                         SpanRLSUpdate,            //
                         NormRLSUpdate,            //
                         RowRLSUpdate,             //
                         WindowUpdate,             //
                         TrackerUpdate,            //
                         ExtendedUpdate,           //
                         DualAscentUpdate>;

using Compressions = PartList<Compression,                 //
                              NoCompression,               //
                              LeastCostCompression,        //
                              MatchingPursuitCompression,  //
                              SmallestCompression,         //
                              MergeCompression,            //
                              MergingPursuitCompression,   //
                              LeastNeededCompression,      //
                              OldestCompression,           //
                              MostCoherentCompression>;

static_assert(Admissions::distinct() && Updates::distinct() && Compressions::distinct(),
              "two parts have the same name");

}  // namespace parsimon
