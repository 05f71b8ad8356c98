# What find_package(Joule) reads: the targets Joule::Runtime (runs artifacts) and, where it is installed, Joule::Joule
# (compiles, too). find_package(Joule COMPONENTS Runtime) asks for the first alone.

include(CMakeFindDependencyMacro)
include(${CMAKE_CURRENT_LIST_DIR}/JouleRuntimeTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/JouleTargets.cmake OPTIONAL)

foreach(component ${Joule_FIND_COMPONENTS})
  if(NOT TARGET Joule::${component})
    set(Joule_${component}_FOUND FALSE)
    if(Joule_FIND_REQUIRED_${component})
      set(Joule_FOUND FALSE)
      set(Joule_NOT_FOUND_MESSAGE "the installed Joule has no component ${component}")
    endif()
  endif()
endforeach()
