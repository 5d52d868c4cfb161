// Every admission rule, update and compression rule there is. A new one is a class in the file of
// its kind, or a file of its own, and a line here.
#pragma once

#include "admission.hpp"
#include "affine_projection.hpp"
#include "compression.hpp"
#include "dual_ascent.hpp"
#include "losses.hpp"
#include "part_list.hpp"
#include "rls.hpp"
#include "updates.hpp"

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
                         RowRLSUpdate,             //
                         DualAscentUpdate>;

using Compressions = PartList<Compression,                 //
                              NoCompression,               //
                              LeastCostCompression,        //
                              MatchingPursuitCompression,  //
                              SmallestCompression,         //
                              MergeCompression,            //
                              LeastNeededCompression,      //
                              OldestCompression,           //
                              MostCoherentCompression>;

static_assert(Admissions::distinct() && Updates::distinct() && Compressions::distinct(),
              "two parts have the same name");

}  // namespace parsimon
