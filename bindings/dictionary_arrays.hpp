// The contents of a dictionary as NumPy arrays.
#pragma once

#include <algorithm>

#include "arrays.hpp"
#include "dictionary.hpp"

namespace parsimon::bindings {

inline Array centers(const Dictionary& dictionary) {  // (m, n_features)
    Result result({dictionary.size(), dictionary.n_features()});
    for (std::size_t j = 0; j < dictionary.size(); ++j)
        dictionary.centre(j, result.data() + j * dictionary.n_features());
    return result.release();
}

// (m, C), the weights of the C outputs from `first` on.
inline Array weights(const Dictionary& dictionary, std::size_t first, std::size_t C) {
    Result result({dictionary.size(), C});
    for (std::size_t j = 0; j < dictionary.size(); ++j)
        for (std::size_t c = 0; c < C; ++c)
            result.data()[j * C + c] = dictionary.weights(first + c)[j];
    return result.release();
}

inline Array triangle(const TriangularFactor& factor) {  // (m, m), lower triangular
    const std::size_t m = factor.size();
    Result result({m, m});
    for (std::size_t i = 0; i < m; ++i) std::copy_n(factor.row(i), i + 1, result.data() + i * m);
    return result.release();
}

}  // namespace parsimon::bindings
