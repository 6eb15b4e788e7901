package policy

// Protect says what happens to protected names that do not exist when a run
// starts.
type Protect uint8

// ProtectExisting, the default: what exists stays read-only, what a command
// makes is reported after the run. ProtectStrict: it cannot be made either.
const (
	ProtectExisting Protect = iota
	ProtectStrict
)

// String gives the spelling of the configuration.
func (p Protect) String() string { return [...]string{"existing", "strict"}[p] }

// ParseProtect reads existing or strict.
func ParseProtect(s string) (Protect, bool) {
	for _, p := range []Protect{ProtectExisting, ProtectStrict} {
		if s == p.String() {
			return p, true
		}
	}
	return 0, false
}

// protectedName is a name that some program outside the sandbox acts on
// without being asked to: what a command writes there runs later, with all
// the rights of the user.
type protectedName struct {
	name string // relative to the top of a writable root or of a repository
	tool string // who acts on it, and when: the end of "made X: ..."
}

// projectNames count at the top of every writable root and of every
// repository in it. Build files (Makefile, package.json) are not among them:
// they are what a command is there to change, and run when the user says so.
var projectNames = []protectedName{
	{".agents", "coding agents take skills and commands from it"},
	{".aider.conf.yml", "aider runs the commands that it names"},
	{".aws", "the AWS tools run its credential_process"},
	{".claude", "Claude Code runs the hooks of its settings"},
	{".codex", "Codex takes its settings and commands from it"},
	{".continue", "Continue takes its tools from it"},
	{".cursor", "Cursor starts the servers and hooks that it names"},
	{".devcontainer", "editors run its commands on the host when the folder opens"},
	{".devcontainer.json", "editors run its commands on the host when the folder opens"},
	{".dir-locals.el", "Emacs evaluates it when a file of the directory opens"},
	{".envrc", "direnv runs it in a shell that enters the directory"},
	{".exrc", "Vim runs it when started in the directory, with exrc set"},
	{".gdbinit", "gdb runs it when started in the directory"},
	{".gemini", "Gemini CLI starts the servers that it names"},
	{".githooks", "git runs it where core.hooksPath names it"},
	{".husky", "git runs its hooks"},
	{".idea", "JetBrains editors run its tasks when the project opens"},
	{".kiro", "Kiro runs its hooks"},
	{".lldbinit", "lldb runs it when started in the directory"},
	{".mcp.json", "coding agents start the servers that it names"},
	{".mise.toml", "mise runs its hooks in a shell that enters the directory"},
	{".nvim.lua", "Neovim runs it when started in the directory, with exrc set"},
	{".opencode", "opencode loads its plugins"},
	{".vscode", "VS Code runs its tasks when the folder opens"},
	{".windsurf", "Windsurf runs its hooks"},
	{".zed", "Zed starts the servers that it names"},
}

// startupNames are what shells run as they start. They count wherever they
// exist at a top; where they do not, only writable roots and the home matter.
var startupNames = []protectedName{
	{".bash_aliases", "bash runs it at start"},
	{".bash_login", "bash runs it at login"},
	{".bash_logout", "bash runs it at logout"},
	{".bash_profile", "bash runs it at login"},
	{".bashrc", "bash runs it at start"},
	{".config/fish", "fish runs its files at start"},
	{".config/nushell", "Nushell runs its files at start"},
	{".config/powershell", "PowerShell runs its profile at start"},
	{".cshrc", "csh runs it at start"},
	{".kshrc", "ksh runs it at start"},
	{".login", "csh runs it at login"},
	{".logout", "csh runs it at logout"},
	{".mkshrc", "mksh runs it at start"},
	{".profile", "login shells and desktops run it"},
	{".tcshrc", "tcsh runs it at start"},
	{".xonshrc", "xonsh runs it at start"},
	{".zlogin", "zsh runs it at login"},
	{".zlogout", "zsh runs it at logout"},
	{".zprofile", "zsh runs it at login"},
	{".zshenv", "zsh runs it at start, also for scripts"},
	{".zshrc", "zsh runs it at start"},
}

// homeNames count in the caller's home alone: elsewhere nothing reads them.
var homeNames = []protectedName{
	{".cargo/env", "login shells run it where Rust is installed"},
	{".config/autostart", "the desktop starts its programs at login"},
	{".config/direnv", "direnv runs its direnvrc in every shell"},
	{".config/emacs", "Emacs runs it at start"},
	{".config/environment.d", "the session's services take their environment from it"},
	{".config/git", "git runs the commands that its config names"},
	{".config/mise", "mise runs its hooks in every shell"},
	{".config/nvim", "Neovim runs it at start"},
	{".config/systemd", "systemd starts its units at login"},
	{".config/tmux", "tmux runs it at start"},
	{".direnvrc", "direnv runs it in every shell"},
	{".emacs", "Emacs runs it at start"},
	{".emacs.d", "Emacs runs it at start"},
	{".gitconfig", "git runs the commands that it names"},
	{".hgrc", "Mercurial runs the hooks that it names"},
	{".irbrc", "irb runs it at start"},
	{".local/share/systemd", "systemd starts its units at login"},
	{".pam_environment", "the login takes its environment from it"},
	{".psqlrc", "psql runs it at start"},
	{".Rprofile", "R runs it at start"},
	{".screenrc", "screen runs it at start"},
	{".sqliterc", "sqlite3 runs it at start"},
	{".tmux.conf", "tmux runs it at start"},
	{".vim", "Vim runs its plugins at start"},
	{".vimrc", "Vim runs it at start"},
	{".xinitrc", "startx runs it"},
	{".xprofile", "the desktop runs it at login"},
	{".xsession", "the desktop runs it at login"},
	{".xsessionrc", "the desktop runs it at login"},
	{"Library/LaunchAgents", "macOS starts its programs at login"},
}

// gitNames count in every git directory. info/attributes is not among them:
// it can only choose among the drivers that a config defines, as any
// .gitattributes of the work tree can.
var gitNames = []protectedName{
	{gitHooks, "git runs its hooks"},
	{gitConfig, "git runs the commands that it names"},
	{gitConfigWorktree, "git runs the commands that it names"},
	{gitCommonDir, "git takes config and hooks from where it points"},
}

// Names of files in a git directory.
const (
	gitHooks          = "hooks"
	gitConfig         = "config"
	gitConfigWorktree = "config.worktree"
	gitCommonDir      = "commondir" // in a linked worktree's: path of the repository's
	gitBackLink       = "gitdir"    // in a linked worktree's: path of its .git file
	dotGit            = ".git"
)

// dotGitName is the entry itself: a directory, or a file that names one.
var dotGitName = protectedName{dotGit, "git takes config and hooks from it"}

// backLinkName is the way back from a linked worktree's git directory.
var backLinkName = protectedName{gitBackLink, "git takes the work tree from it"}

// guardedName stands for the policy files of Spec.Guarded.
var guardedName = protectedName{"", "it decides about later runs"}

// What a search for a policy finds, in any directory. A program's file holds
// more than its policy and is there to be worked on: a change to it is
// reported, not refused.
const (
	policyFile  = "sbx.yaml"
	programFile = "program.yaml"
)

// NamesProtected reports whether a relative path below a top leads into what
// is protected by name. Granting such a path by itself lifts the protection,
// so the grant has to be the user's own.
func NamesProtected(rel string) bool {
	for _, names := range [][]protectedName{projectNames, startupNames, homeNames, {dotGitName}} {
		for _, n := range names {
			if containsRun(rel, n.name) {
				return true
			}
		}
	}
	return false
}

// containsRun reports whether the components of name occur in a row in rel.
func containsRun(rel, name string) bool {
	for rest := rel; ; {
		if rest == name || len(rest) > len(name) && rest[len(name)] == '/' && rest[:len(name)] == name {
			return true
		}
		i := 0
		for i < len(rest) && rest[i] != '/' {
			i++
		}
		if i == len(rest) {
			return false
		}
		rest = rest[i+1:]
	}
}
