// SPDX-License-Identifier: BSD-3-Clause
// 400 of what? A bandwidth is made of bits per second, said by name.
// refused: conversion from|no viable conversion|could not convert
#include <weft/config.hpp>

#ifdef WEFT_MISTAKE
weft::Bandwidth cable() { return 400; }
#else
weft::Bandwidth cable() { return {.bits_per_second = 400'000'000'000}; }
#endif
