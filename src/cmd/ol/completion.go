package main

import (
	"github.com/urfave/cli/v2"
)

// The shells ask ol itself for the words that can follow; these scripts only
// carry the question. ol names flags to a word that begins like one.
const (
	bashCompletion = `_ol() {
	local words=("${COMP_WORDS[@]:0:$COMP_CWORD}") cur=${COMP_WORDS[COMP_CWORD]}
	[[ $cur == -* ]] && words+=("$cur")
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o default -F _ol ol
`
	zshCompletion = `#compdef ol
_ol() {
	local -a asked found
	asked=("${(@)words[1,CURRENT-1]}")
	[[ ${words[CURRENT]} == -* ]] && asked+=("${words[CURRENT]}")
	found=("${(@f)$("${asked[@]}" --generate-bash-completion 2>/dev/null)}")
	compadd -a found
	(( $#found )) || _files
}
compdef _ol ol
`
	fishCompletion = `complete -c ol -a '(set -l words (commandline -opc) (string match -- "-*" (commandline -ct)); $words --generate-bash-completion 2>/dev/null)'
`
)

func completionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: "bash: source <(ol completion bash)\n" +
			"zsh:  source <(ol completion zsh)\n" +
			"fish: ol completion fish | source",
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, 1, "bash|zsh|fish"); err != nil {
				return err
			}
			scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			script, ok := scripts[c.Args().First()]
			if !ok {
				return usage("use it so: ol completion bash|zsh|fish", "there is no completion for %q", c.Args().First())
			}
			_, err := s.out.Write([]byte(script))
			return err
		},
	}
}
