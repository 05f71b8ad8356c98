# What `cmake --install build --prefix P` puts where. The tree may be moved afterwards. Its component Runtime is what
# programs need that only run artifacts: `cmake --install build --prefix P --component Runtime`.

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Joule)
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/joule)

install(TARGETS joule-runtime EXPORT JouleRuntimeTargets COMPONENT Runtime)
install(TARGETS joule-vgpu COMPONENT Runtime)
install(TARGETS joule-vgpu-cuda joule-vgpu-nvml DESTINATION ${CMAKE_INSTALL_LIBDIR}/vgpu COMPONENT Runtime)
install(DIRECTORY include/joule DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Runtime)
install(EXPORT JouleRuntimeTargets NAMESPACE Joule:: DESTINATION ${package} COMPONENT Runtime)
write_basic_package_version_file(JouleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/JouleConfig.cmake ${CMAKE_BINARY_DIR}/JouleConfigVersion.cmake DESTINATION ${package}
  COMPONENT Runtime)
install(FILES LICENSE DESTINATION ${documents} COMPONENT Runtime)

install(TARGETS joule-compiler EXPORT JouleTargets)
install(EXPORT JouleTargets NAMESPACE Joule:: DESTINATION ${package})
install(TARGETS joule joule-import joule-lsp-server joule-opt joule-ptx joule-reduce)
install(FILES README.md CHANGELOG.md DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents})
