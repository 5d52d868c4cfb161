// Learns from a CSV file. Usage: learn knlms|krls|polk data.csv [predictions.csv]
//
// Each row is predicted before it is learned. The program prints a table of the errors.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iomanip>
#include <parsimon/learner.hpp>
#include <parsimon/recipes.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// The rows of a CSV file. The last column is the target, the other columns are features.
struct Table {
    std::size_t n = 0, d = 0;  // rows, features
    std::vector<double> x;     // (n, d)
    std::vector<double> y;     // (n,)
};

// The fields of a line.
std::vector<std::string> split(std::string line) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> fields;
    std::istringstream rest(line + ",");
    for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
    return fields;
}

// The field as a finite number. Throws an error that begins with `where` if it is not one.
double number(const std::string& field, const std::string& where) {
    char* end = nullptr;
    const double value = std::strtod(field.c_str(), &end);
    const bool read = end != field.c_str() && end[std::strspn(end, " \t")] == '\0';
    if (!read || !std::isfinite(value))
        throw std::runtime_error(where + ": '" + field + "' is not a finite number");
    return value;
}

Table read_table(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!file) throw std::runtime_error(path + ": cannot be opened for reading");
    if (!std::getline(file, line))
        throw std::runtime_error(path + ": empty, a header was expected");
    const std::vector<std::string> names = split(line);
    if (names.size() < 2)
        throw std::runtime_error(path + ": at least two columns are needed, feature and target");
    Table table;
    table.d = names.size() - 1;
    for (std::size_t at = 2; std::getline(file, line); ++at) {
        if (line.empty() || line == "\r") continue;
        const std::string where = path + ", line " + std::to_string(at);
        const std::vector<std::string> fields = split(line);
        if (fields.size() != names.size())
            throw std::runtime_error(where + ": " + std::to_string(fields.size()) +
                                     " values, but the header has " + std::to_string(names.size()));
        for (std::size_t c = 0; c < fields.size(); ++c)
            (c < table.d ? table.x : table.y)
                .push_back(number(fields[c], where + ", column '" + names[c] + "'"));
        ++table.n;
    }
    if (table.n == 0) throw std::runtime_error(path + ": no rows below the header");
    return table;
}

// The mean and standard deviation of a column before it was standardised.
struct Scale {
    double mean = 0.0, deviation = 1.0;
};

// Standardises every `stride`-th value in place: (value - mean) / deviation.
Scale standardise(double* values, std::size_t n, std::size_t stride) {
    Scale scale;
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += values[i * stride];
    scale.mean = sum / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i * stride] -= scale.mean;
        squares += values[i * stride] * values[i * stride];
    }
    if (squares > 0.0) scale.deviation = std::sqrt(squares / static_cast<double>(n));
    for (std::size_t i = 0; i < n; ++i) values[i * stride] /= scale.deviation;
    return scale;
}

// The recipe of an algorithm with default parameters. The Gaussian kernel has gamma = 1 / d, which
// suits standardised features.
parsimon::Recipe recipe(const std::string& algorithm, std::size_t d) {
    const parsimon::KernelPtr kernel = parsimon::gaussian(1.0 / static_cast<double>(d));
    if (algorithm == "knlms") return parsimon::knlms(kernel);
    if (algorithm == "krls") return parsimon::krls(kernel);
    if (algorithm == "polk") return parsimon::polk(kernel);
    throw std::runtime_error("unknown algorithm '" + algorithm + "': known are knlms, krls, polk");
}

// Learns all rows in ten blocks and prints a line for each. Returns the predictions in the units of
// the target.
std::vector<double> learn(parsimon::Learner& model, const Table& table, const Scale& target) {
    std::vector<double> predictions(table.n);
    std::printf("%10s %10s %14s\n", "rows", "centres", "rms error");
    const std::size_t block = (table.n + 9) / 10;
    for (std::size_t first = 0; first < table.n; first += block) {
        const std::size_t n = std::min(block, table.n - first);
        const double* y = table.y.data() + first;
        double *f = predictions.data() + first, squares = 0.0;
        model.learn(table.x.data() + first * table.d, y, nullptr, n, f);
        for (std::size_t i = 0; i < n; ++i) {
            squares += (f[i] - y[i]) * (f[i] - y[i]);
            f[i] = target.mean + target.deviation * f[i];
        }
        std::printf("%10zu %10zu %14.6g\n", first + n, model.dictionary().size(),
                    target.deviation * std::sqrt(squares / static_cast<double>(n)));
    }
    return predictions;
}

void write(const std::string& path, const std::vector<double>& predictions) {
    std::ofstream file(path);
    file << "prediction\n" << std::setprecision(17);
    for (const double prediction : predictions) file << prediction << "\n";
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
}

void run(const std::string& algorithm, const std::string& data, const char* output) {
    Table table = read_table(data);
    parsimon::Learner model(recipe(algorithm, table.d), table.d);
    for (std::size_t c = 0; c < table.d; ++c) standardise(table.x.data() + c, table.n, table.d);
    const Scale target = standardise(table.y.data(), table.n, 1);
    model.check_samples(table.x.data(), table.y.data(), nullptr, table.n, 1);
    const std::vector<double> predictions = learn(model, table, target);
    if (output) write(output, predictions);
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3 || count > 4) {
        std::fprintf(stderr, "usage: learn knlms|krls|polk data.csv [predictions.csv]\n");
        return 2;
    }
    try {
        run(arguments[1], arguments[2], count == 4 ? arguments[3] : nullptr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "learn: %s\n", error.what());
        return 1;
    }
}
