# SPDX-License-Identifier: BSD-3-Clause
# Where Slurm is, for the parts that slurmctld, slurmd and their clients load. Without WEFT_SLURM_TREE they are not built.
# Slurm's internal structures move between micro releases: a plugin of another release crashes slurmctld. So the tree and the
# installed Slurm must be of the same one, or there is no build.
set(WEFT_SLURM_TREE "" CACHE PATH "configured source tree of the installed Slurm (packaging/slurm-tree)")
if(NOT WEFT_SLURM_TREE)
  return()
endif()
find_path(WEFT_SLURM_INCLUDE_DIR slurm/slurm_version.h DOC "headers of the installed Slurm")
if(NOT WEFT_SLURM_INCLUDE_DIR)
  message(FATAL_ERROR "slurm/slurm_version.h is missing (packaging/setup slurm)")
endif()
if(NOT EXISTS ${WEFT_SLURM_TREE}/META OR NOT EXISTS ${WEFT_SLURM_TREE}/config.h)
  message(FATAL_ERROR "${WEFT_SLURM_TREE} is no configured Slurm source tree (packaging/slurm-tree)")
endif()
file(STRINGS ${WEFT_SLURM_TREE}/META weft_slurm_meta REGEX "^ *Version:")
string(REGEX REPLACE "^ *Version:[ \t]*([0-9.]+).*" "\\1" weft_slurm_tree_version "${weft_slurm_meta}")
file(STRINGS ${WEFT_SLURM_INCLUDE_DIR}/slurm/slurm_version.h weft_slurm_number
     REGEX "^#define SLURM_VERSION_NUMBER +0x")
string(REGEX REPLACE ".*(0x[0-9a-fA-F]+).*" "\\1" weft_slurm_number "${weft_slurm_number}")
math(EXPR weft_major "(${weft_slurm_number} >> 16) & 255")
math(EXPR weft_minor "(${weft_slurm_number} >> 8) & 255")
math(EXPR weft_micro "${weft_slurm_number} & 255")
if(weft_minor LESS 10)
  set(weft_minor 0${weft_minor})
endif()
set(WEFT_SLURM_SERIES ${weft_major}.${weft_minor})
if(NOT weft_slurm_tree_version STREQUAL "${WEFT_SLURM_SERIES}.${weft_micro}")
  message(FATAL_ERROR "${WEFT_SLURM_TREE} is Slurm ${weft_slurm_tree_version}, but the installed one is "
                      "${WEFT_SLURM_SERIES}.${weft_micro}; a plugin must be built against the very release that loads it")
endif()

set(WEFT_SLURM_OUTPUT_DIR ${PROJECT_BINARY_DIR}/slurm CACHE PATH "where the plugins are built")
set(weft_slurm_plugins ${CMAKE_INSTALL_FULL_LIBDIR}/slurm)
if(IS_DIRECTORY /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/slurm-wlm)  # Debian's
  set(weft_slurm_plugins /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/slurm-wlm)
endif()
set(WEFT_SLURM_PLUGIN_DIR ${weft_slurm_plugins} CACHE PATH "Slurm's PluginDir")
set(WEFT_SLURM_LIBRARY_DIR ${CMAKE_INSTALL_FULL_LIBDIR}/weft CACHE PATH "where libweft_slurm.so is installed")
