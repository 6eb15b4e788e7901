// Package script holds lists of system calls that a process carries out on
// itself before it becomes another program: look at a mount, put a Landlock
// ruleset up, load a filter, execve.
//
// # Model
//
// A [Script] is written where there is time and a language runtime, and
// carried out by [Perform] where there is neither: Perform allocates nothing,
// grows no stack and calls nothing but the kernel. So it also runs in a
// process whose Go runtime was never started, which is how the stub begins in
// a tenth of a millisecond instead of more than one; and all that it can do
// stands in one short loop.
//
// Steps run in order. A call that fails, or a test that does not hold, ends
// the script, unless the step names another one to go on with. What failed
// comes back as a [Failure]: the number of the step and what the kernel said.
// Words are the writer's: the number tells it what the step was for.
//
// # Memory
//
// The image of a script is one block: a header, the steps, then data. What
// points into the data is an offset until the step that uses it is carried
// out, so the block can be sent to another process as it is. Both ends are
// the same program on the same machine: there is no format beyond that.
package script
