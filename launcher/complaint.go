package launcher

import (
	"regexp"
	"strings"
	"sync"
)

// subject is what a complaint of a program is about.
type subject uint8

const (
	readOnly    subject = iota // a write to what is mounted read-only
	refused                    // a permission
	missing                    // a file that is not there: hidden ones are not
	busy                       // renaming or removing a mount point
	space                      // a full file system
	network                    // a host
	forking                    // a process or thread
	descriptors                // an open file
	allocating                 // memory
	growing                    // the size of a file
)

// complaints are the words of strerror(3), of shells and of language runtimes
// for the errors that a boundary causes. Those in lower case are found in any
// case, the others only as they are. The first match of a line counts.
var complaints = []struct {
	about   subject
	phrases []string
}{
	{readOnly, []string{"read-only file system", "EROFS"}},
	{network, []string{"network is unreachable", "ENETUNREACH", "could not resolve", "couldn't resolve", "name resolution", "name or service not known",
		"EAI_AGAIN", "ENOTFOUND", "no such host", "address family not supported", "EAFNOSUPPORT", "couldn't connect to server", "unable to look up"}},
	{space, []string{"no space left on device", "ENOSPC", "disk quota exceeded"}},
	{forking, []string{"cannot fork", "can't fork", "fork: ", "resource temporarily unavailable", "EAGAIN", "can't start new thread", "pthread_create"}},
	{descriptors, []string{"too many open files", "EMFILE"}},
	{allocating, []string{"cannot allocate memory", "out of memory", "MemoryError", "ENOMEM"}},
	{growing, []string{"file too large", "EFBIG", "file size limit exceeded"}},
	{busy, []string{"device or resource busy", "EBUSY"}},
	{refused, []string{"permission denied", "operation not permitted", "EACCES", "EPERM", "access denied"}},
	{missing, []string{"no such file", "directory nonexistent", "ENOENT", "not found", "does not exist"}},
}

// writingWords stand in messages about changes.
var writingWords = []string{"create", "creating", "creation", "touch", "mkdir", "remov", "unlink", "delet", "renam", "move", "moving", "writ", "append", "truncat", "chmod", "chown", "link", "install", "save", "saving"}

func writes(lower string) bool {
	_, at := find(lower, lower, writingWords)
	return at >= 0
}

// find returns the first of the phrases that a line holds, and where.
func find(line, lower string, phrases []string) (phrase string, at int) {
	for _, p := range phrases {
		in := lower
		if strings.ToLower(p) != p {
			in = line
		}
		if i := strings.Index(in, p); i >= 0 {
			return p, i
		}
	}
	return "", -1
}

// quotedText is compiled at the first complaint: most runs have none.
var quotedText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|“([^”]+)”|`([^'`]+)['`]")
})

// pathsIn finds what can be a path in a message whose complaint stands at
// line[from:to]: what is quoted, what starts like a path, and the word right
// before or after the complaint ("cat: notes.txt: Permission denied").
func pathsIn(line string, from, to int) (paths []string) {
	add := func(p string) {
		p = strings.Trim(p, " :,;()[]<>'\"`‘’“”")
		if p != "" && !strings.ContainsAny(p, "\x00\n*?") && len(p) < 4096 {
			for _, known := range paths {
				if known == p {
					return
				}
			}
			paths = append(paths, p)
		}
	}
	for _, m := range quotedText().FindAllStringSubmatch(line, -1) {
		for _, text := range m[1:] {
			add(text)
		}
	}
	rest := quotedText().ReplaceAllString(line, " ")
	for i, word := range strings.Fields(rest) {
		word = strings.TrimLeft(word, "(<[")
		if i == 0 && strings.HasSuffix(word, ":") && strings.Count(line[:from], ": ") > 1 {
			continue // the program that complains
		}
		if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") {
			add(word)
		}
	}
	if len(paths) > 0 {
		return paths
	}
	before := strings.TrimRight(line[:from], " :(")
	i := strings.LastIndex(before, ": ")
	if words := strings.Fields(before[max(i, 0):]); len(words) > 0 {
		// Without a name in front the word can be the program itself.
		if last := words[len(words)-1]; i >= 0 || strings.ContainsAny(last, "/.@") {
			add(last)
		}
	}
	if after, ok := strings.CutPrefix(line[to:], ": "); ok {
		add(after)
	}
	return paths
}
