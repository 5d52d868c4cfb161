// Learners of given parts, for the tests of parts.
#pragma once

#include <memory>
#include <vector>

#include "learner.hpp"

namespace parsimon::tests {

using Rows = std::vector<std::vector<double>>;

struct Parts {
    KernelPtr kernel;
    std::shared_ptr<Admission> admission;
    std::shared_ptr<Update> update;
};

inline Learner make(const Parts& parts, std::size_t d, std::size_t C) {
    return Learner({parts.kernel, std::make_shared<SquaredLoss>(), parts.admission, parts.update,
                    std::make_shared<NoCompression>()},
                   d, C, 0);
}

}  // namespace parsimon::tests
