# Found by find_package(parsimon). Defines the target parsimon::parsimon.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/parsimonTargets.cmake")
