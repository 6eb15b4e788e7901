// Package platform knows what this machine can enforce: it finds and probes
// backends, chooses one for a policy, states which guarantees hold, and says
// for everything that is missing what would change it.
//
// # Invariants
//
//   - A backend is usable only if it did what is asked of it in a probe here,
//     or did so before under the same identity (file, kernel, user). Versions
//     and wordings decide nothing.
//   - A [Plan] is complete: the launcher adds descriptors and starts it, and
//     decides nothing about access.
//   - What cannot be given is an error that names it, never a weaker plan.
package platform
