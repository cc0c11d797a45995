# Prints the completions of a command line: zsh -f complete-in-zsh.zsh SCRIPT LINE EMPTY_FOLDER
# An interactive zsh completes the line. Its compadd also writes the matches to a file.
zmodload zsh/zpty
export SCRIPT=$1 SETUP=$3/setup MATCHES=$3/matches
: > $MATCHES
cat > $SETUP <<'END'
PROMPT=
unsetopt beep
autoload -Uz compinit
compinit -u -D
source $SCRIPT
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
comppostfuncs=( finish )
finish() { exit }
compadd() {
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
    local -a hits
    builtin compadd -A hits "$@"
    (( $#hits )) && print -rl -- $hits >> $MATCHES
  fi
  builtin compadd "$@"
}
print ready
END
zpty session zsh -f -i
zpty -w session 'source $SETUP'
while zpty -r session line; do [[ $line == ready* ]] && break; done
zpty -w -n session "$2"$'\t'
while zpty -r session line; do :; done
cat $MATCHES
