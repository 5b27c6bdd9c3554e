# SPDX-License-Identifier: BSD-3-Clause
# What every target of the house shares: warnings, sanitizers.
add_library(weft_options INTERFACE)
target_compile_options(weft_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                              $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Wold-style-cast>
                                              $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wzero-as-null-pointer-constant>)
# g++ 12 warns of overlapping copies in its own std::string when it optimises (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(weft_options INTERFACE -Wno-restrict)
endif()
if(WEFT_WERROR)
  target_compile_options(weft_options INTERFACE -Werror)
endif()
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  # Left out: what ASan finds anyway (null and wild pointers), at half the compile time of the whole.
  target_compile_options(weft_options INTERFACE
    -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

if(WEFT_FUZZ)  # coverage counters in the libraries too; the fuzzers alone bring libFuzzer's main
  target_compile_options(weft_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# weft_library(NAME): a room's library from its *.cpp, as weft::NAME.
function(weft_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(weft_${name} ${sources})
  add_library(weft::${name} ALIAS weft_${name})
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(weft_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(weft_${name} PUBLIC cxx_std_20)
  target_link_libraries(weft_${name} PRIVATE $<BUILD_INTERFACE:weft_options>)
endfunction()
