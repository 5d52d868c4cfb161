"""The core as a package for C++ programs: installed, found by CMake, and equal to Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import parsimon
from parsimon.losses import Huber
from parsimon.updates import Schedule

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "build" / "core-test"  # by `make core-test`, which `make test` runs first
STRICT = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"
PUBLIC = ("learner", "recipes", "kernels", "losses", "parts", "dictionary", "state")

#: Recipes in C++, and the estimators that learn the same numbers.
RECIPES = {
    "knlms(gaussian(0.5), {.step_size = 0.1, .coherence = 0.7, .ridge = 0.01})": (
        parsimon.published(
            parsimon.KNLMSRegressor, gamma=0.5, step_size=0.1, coherence=0.7, ridge=0.01
        )
    ),
    "knlms(laplacian(0.3), {.coherence = 0.8, .budget = 9})": (
        parsimon.published(parsimon.KNLMSRegressor, "laplacian", gamma=0.3, coherence=0.8, budget=9)
    ),
    "knlms(gaussian(0.5), {.budget = 9, .compression = Eviction::oldest})": (
        parsimon.published(parsimon.KNLMSRegressor, gamma=0.5, budget=9, compression="oldest")
    ),
    "krls(gaussian(0.5), {.tolerance = 0.1, .ridge = 0.2, .forgetting = 0.99, .budget = 8})": (
        parsimon.published(
            parsimon.KRLSRegressor, gamma=0.5, tolerance=0.1, ridge=0.2, forgetting=0.99, budget=8
        )
    ),
    "krls(gaussian(0.5), {.admission = KRLSOptions::Admission::coherence, .ridge = 0.1})": (
        parsimon.published(parsimon.KRLSRegressor, gamma=0.5, admission="coherence", ridge=0.1)
    ),
    "polk(gaussian(0.5), {.step_size = 0.3, .alpha = 1e-3, .parsimony = 0.1, .budget = 15})": (
        parsimon.published(
            parsimon.POLKRegressor, gamma=0.5, step_size=0.3, alpha=1e-3, parsimony=0.1, budget=15
        )
    ),
    "polk(gaussian(0.5), {.schedule = diminishing, .average_after = 50})": (
        parsimon.published(parsimon.POLKRegressor, gamma=0.5, schedule="diminishing", average=50)
    ),
    "polk(gaussian(0.5), {.loss = std::make_shared<HuberLoss>(0.5),"
    " .schedule = {.power = 0.6, .delay = 20}, .batch_size = 4})": (
        parsimon.published(
            parsimon.POLKRegressor,
            gamma=0.5,
            loss=Huber(0.5),
            schedule=Schedule(0.6, 20),
            batch_size=4,
        )
    ),
}
DRIVER = """
#include <parsimon/parts.hpp>
#include <parsimon/recipes.hpp>
#include <cstdio>
#include <vector>
using namespace parsimon;
static void learn(Recipe recipe) {
    Learner model(std::move(recipe), D);
    std::vector<double> out(N);
    model.check_samples(X, Y, nullptr, N, 1);
    model.learn(X, Y, nullptr, N, nullptr);
    model.predict(X, N, out.data());
    for (double f : out) std::printf("%.17g\\n", f);
}
"""


def tool(name: str) -> str | None:
    return shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


pytestmark = [
    pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="no sources here"),
    pytest.mark.skipif(not tool("cmake"), reason="no cmake"),
    pytest.mark.skipif(not (tool("c++") or tool("g++")), reason="no C++ compiler"),
]


def run(*command, code=0):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build(source, folder, *options):
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"] if tool("ninja") else []
    run(tool("cmake"), "-S", source, "-B", folder, *generator, *options)
    run(tool("cmake"), "--build", folder)
    return folder


def compiler(prefix):
    program = tool("c++") or tool("g++")
    return program, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{prefix / 'include'}"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where the package is installed."""
    folder = tmp_path_factory.mktemp("package")
    if (BUILT / "CMakeCache.txt").exists():
        built = BUILT
        run(tool("cmake"), "--build", built, "--target", "core")  # nothing, if it is up to date
    else:
        built = build(ROOT, folder / "build", "-DPARSIMON_PYTHON=OFF")
    run(tool("cmake"), "--install", built, "--prefix", folder / "installed")
    return folder / "installed"


@pytest.fixture(scope="module")
def example(prefix, tmp_path_factory):
    """The program of examples/cpp."""
    folder = tmp_path_factory.mktemp("example")
    return build(ROOT / "examples" / "cpp", folder, f"-DCMAKE_PREFIX_PATH={prefix}", STRICT) / (
        "learn"
    )


def samples(n=300, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal([5.0, 0.0, -1.0], [10.0, 0.1, 1.0], size=(n, d))
    y = np.sin(X[:, 0] / 5.0) + X[:, 2] + 7.0 + 0.1 * rng.normal(size=n)
    return X, y


def standardised(columns):
    """Sums in the order of the rows, as the example sums."""
    total = np.cumsum(columns, axis=0)[-1]
    mean = total / len(columns)
    centred = columns - mean
    deviation = np.sqrt(np.cumsum(centred * centred, axis=0)[-1] / len(columns))
    return centred / deviation, mean, deviation


def test_the_package_has_the_headers_the_library_and_the_version(prefix):
    headers = {p.relative_to(prefix / "include").as_posix() for p in prefix.rglob("*.hpp")}
    assert {f"parsimon/{name}.hpp" for name in PUBLIC} <= headers
    simd = {name for name in headers if "simd" in name}
    assert simd == {"parsimon/simd/layout.hpp", "parsimon/simd/loops.hpp"}
    assert not any("test" in name or "check" in name for name in headers)
    assert len([*prefix.rglob("libparsimon.a")]) == 1
    (version,) = prefix.rglob("parsimonConfigVersion.cmake")
    number = re.match(r"\d+\.\d+\.\d+", parsimon.__version__)[0]
    assert f'set(PACKAGE_VERSION "{number}")' in version.read_text()
    (targets,) = prefix.rglob("parsimonTargets.cmake")
    for private in (str(ROOT), "core_options", "-Wall", "-ffp-contract"):
        assert private not in targets.read_text()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_header_can_be_included_alone(prefix, tmp_path, name):
    source = tmp_path / "alone.cpp"
    source.write_text(f"#include <parsimon/{name}.hpp>\n")
    run(*compiler(prefix), "-fsyntax-only", source)


@pytest.mark.parametrize(
    ("algorithm", "estimator"),
    [
        ("knlms", parsimon.KNLMSRegressor),
        ("krls", parsimon.KRLSRegressor),
        ("polk", parsimon.POLKRegressor),
    ],
)
def test_the_example_predicts_what_python_predicts(example, tmp_path, algorithm, estimator):
    X, y = samples()
    rows = np.column_stack([X, y])
    data, output = tmp_path / "data.csv", tmp_path / "predictions.csv"
    np.savetxt(data, rows, fmt="%.17g", delimiter=",", header="a,b,c,target", comments="")
    table = run(example, algorithm, data, output).stdout
    predictions = np.loadtxt(output, skiprows=1)

    scaled, mean, deviation = standardised(rows)
    model = parsimon.published(estimator, gamma=1 / 3)
    expected = []
    for row in scaled:
        expected.append(model.predict(row[None, :3])[0] if expected else 0.0)
        model.partial_fit(row[None, :3], row[3:])
    expected = mean[3] + deviation[3] * np.array(expected)
    np.testing.assert_allclose(predictions, expected, rtol=1e-12)
    seen, centers, error = table.splitlines()[-1].split()
    assert (int(seen), int(centers)) == (300, model.n_centers_)
    last = y[270:] - expected[270:]
    assert float(error) == pytest.approx(np.sqrt((last**2).mean()), rel=1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be opened"),
        ("", "empty"),
        ("a\n1\n", "at least two columns"),
        ("a,y\n", "no rows"),
        ("a,y\n1,2\n1,2,3\n", "line 3: 3 values, but the header has 2"),
        ("a,y\n1,2\n\n1,two\n", "line 4, column 'y': 'two' is not a finite number"),
        ("a,y\n,2\n", "line 2, column 'a': '' is not a finite number"),
        ("a,y\n1,nan\n", "line 2, column 'y': 'nan' is not a finite number"),
    ],
)
def test_the_example_says_what_is_wrong_with_a_file(example, tmp_path, text, words):
    data = tmp_path / "data.csv"
    if text is not None:
        data.write_text(text)
    message = run(example, "knlms", data, tmp_path / "out.csv", code=1).stderr
    assert message.startswith(f"learn: {data}") and words in message
    assert not (tmp_path / "out.csv").exists()


def test_the_example_takes_files_of_other_systems_and_lists_its_algorithms(example, tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes(b"a,y\r\n1, 2\r\n3,4 \r\n\r\n")
    assert run(example, "krls", data).stdout.splitlines()[-1].split()[0] == "2"
    assert "known are knlms, krls, polk" in run(example, "svm", data, code=1).stderr
    assert "usage" in run(example, code=2).stderr
    missing = tmp_path / "missing" / "out.csv"
    assert f"{missing}: cannot be written" in run(example, "knlms", data, missing, code=1).stderr


def test_the_program_of_the_documentation_runs(prefix, tmp_path):
    text = (ROOT / "docs" / "cpp.md").read_text()
    (project,) = re.findall(r"```cmake\n(.*?)```", text, flags=re.DOTALL)
    (program,) = re.findall(r"```cpp\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "CMakeLists.txt").write_text(project)
    (tmp_path / "sine.cpp").write_text(program)
    folder = build(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", STRICT)
    said = run(folder / "sine").stdout
    found, centers = re.fullmatch(r"f\(1\) = (\S+) with (\d+) centres\n", said).groups()
    x = (37 * np.arange(500) % 500 / 500 * 6 - 3)[:, None]
    model = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0, budget=20, n_passes=5).fit(
        x, np.sin(x[:, 0])
    )
    assert int(centers) == model.n_centers_
    assert float(found) == pytest.approx(model.predict([[1.0]])[0], rel=1e-12)


def test_every_option_of_a_recipe_is_that_of_the_estimator(prefix, tmp_path):
    X, y = samples(200)
    X, y = standardised(X)[0], standardised(y)[0]
    constants = [
        f"constexpr unsigned N = {len(X)}, D = {X.shape[1]};",
        *(
            f"const double {name}[] = {{{', '.join(map(repr, values.ravel().tolist()))}}};"
            for name, values in (("X", X), ("Y", y))
        ),
    ]
    calls = "".join(f"    learn({recipe});\n" for recipe in RECIPES)
    source, program = tmp_path / "recipes.cpp", tmp_path / "recipes"
    source.write_text("\n".join(constants) + DRIVER + f"int main() {{\n{calls}}}\n")
    (archive,) = prefix.rglob("libparsimon.a")
    # Classes that the program makes itself, such as HuberLoss, are compiled with its flags.
    run(*compiler(prefix), "-ffp-contract=off", source, archive, "-pthread", "-o", program)
    found = np.array(run(program).stdout.split(), dtype=float).reshape(len(RECIPES), len(X))
    for recipe, predictions, model in zip(RECIPES, found, RECIPES.values(), strict=True):
        expected = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(predictions, expected, err_msg=recipe)
