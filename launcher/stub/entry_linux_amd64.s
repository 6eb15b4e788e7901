#include "textflag.h"

#define SYS_arch_prctl 158
#define ARCH_SET_FS 0x1002

// entry is the program's entry point. It starts the Go runtime, unless the
// only argument is "sbx-stub", eight letters that fit a register: see Arg.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	CMPQ 0(SP), $2
	JNE  runtime
	MOVQ 16(SP), AX
	MOVQ $0x627574732d786273, BX
	CMPQ (AX), BX
	JNE  runtime
	CMPB 8(AX), $0
	JNE  runtime

	// Calls from assembler to Go load the goroutine from the thread's storage.
	// There is none of either, so it is a word of zeros.
	MOVL $SYS_arch_prctl, AX
	MOVL $ARCH_SET_FS, DI
	LEAQ ·storage+8(SB), SI
	SYSCALL
	CALL ·serve(SB)
	INT  $3

runtime:
	JMP _rt0_amd64_linux(SB)
