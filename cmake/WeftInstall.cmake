# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays down beside the program (placement/cli): libraries, headers, find_package(weft), examples.
include(CMakePackageConfigHelpers)
set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_config weft_topology weft_placement EXPORT weftTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(room config topology placement)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
                              INSTALL_DESTINATION ${weft_package_dir})
# Before 1.0 a new minor version may change what callers see.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
        DESTINATION ${weft_package_dir})

if(EXISTS ${PROJECT_SOURCE_DIR}/config/examples)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
