// Package sbpltest interprets Seatbelt profiles so that tests can ask, on any
// operating system, what a profile would allow. It is for tests alone: nothing
// that ships imports it, and it proves nothing about a kernel.
//
// # Model
//
// A profile is read (Read), compiled (Compile) and asked (Profile.Decide). A
// decision starts at an operation and looks at the rules that name it; if none
// decides, it goes on to the parent operation and ends at "default". Which rule
// of an operation decides is not documented by Apple. Public measurements fit
// one model best, but leave some points open, so the points are parameters:
// see Semantics. A renderer whose profiles decide alike under all of them
// depends on none of them.
//
// The language is a closed subset: whatever sbx does not emit is an error, as
// any error in libsandbox refuses the whole profile.
//
// # Sources
//
// The reader follows TinyScheme as libsandbox uses it (TinyScheme 1.42 read the
// same strings from the golden profiles and from 100 generated ones), and the operation tree
// follows macOS 10.15, both as published by the simbple project. Facts that
// others measured on macOS are restated under ../testdata/facts and checked
// against the evaluator by this package's tests.
package sbpltest
