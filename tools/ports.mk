# The core's own tests with other compilers and for other processors. On Debian:
#   apt-get install clang libc++-dev libc++abi-dev qemu-user g++-aarch64-linux-gnu g++-arm-linux-gnueabihf
CLANG ?= clang++
.PHONY: core-test core-ports core-clang core-arm64 core-arm32 core-processors

# Builds the tests into a folder: folder, options of CMake.
define CORE_TESTS
	$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPARSIMON_PYTHON=OFF -DPARSIMON_TESTS=ON -DPARSIMON_WERROR=ON $(2) >/dev/null
	$(BIN)/cmake --build build/$(1)
endef
CROSS = -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$(1) -DCMAKE_CXX_COMPILER=$(2)-g++

core-test: .venv/tools
	$(call CORE_TESTS,core-test)
	build/core-test/core_tests

core-ports: core-clang core-arm64 core-arm32 core-processors

# Another compiler with another standard library, and the warnings that GCC does not give.
core-clang: .venv/tools
	$(call CORE_TESTS,core-clang,-DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_CXX_FLAGS="-Wpedantic -stdlib=libc++")
	build/core-clang/core_tests

# Another processor, emulated.
core-arm64: .venv/tools
	$(call CORE_TESTS,core-arm64,$(call CROSS,aarch64,aarch64-linux-gnu))
	qemu-aarch64 -L /usr/aarch64-linux-gnu build/core-arm64/core_tests

# One with pointers and sizes of 32 bits.
core-arm32: .venv/tools
	$(call CORE_TESTS,core-arm32,$(call CROSS,arm,arm-linux-gnueabihf))
	qemu-arm -L /usr/arm-linux-gnueabihf build/core-arm32/core_tests

# Older x86-64 processors, emulated: each must get the loops that it can run, and they must be right.
# Nehalem has no AVX, Haswell no AVX-512. An instruction that the processor lacks ends the program.
core-processors: .venv/tools
	$(call CORE_TESTS,core-test)
	qemu-x86_64 -cpu Nehalem build/core-test/core_tests baseline
	qemu-x86_64 -cpu Haswell build/core-test/core_tests x86_64_v3
