/**
 * `evenkeel completion`: a shell script that completes commands, options and, if a server responds, kinds.
 *
 * The script calls `evenkeel completion words ...`, so that it also works for newer versions.
 */
import { globalOptions, type Command, type Invocation } from '../command.ts'
import { isLocal } from '../connection.ts'
import { Failure } from '../failure.ts'

const shells = {
  bash: `_evenkeel() {
  local words="\${COMP_WORDS[*]:1:COMP_CWORD-1}" current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$(evenkeel completion words $words 2>/dev/null)" -- "$current"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _evenkeel evenkeel
`,
  zsh: `#compdef evenkeel
_evenkeel() {
  local -a found
  found=(\${(f)"$(evenkeel completion words \${words[2,CURRENT-1]} 2>/dev/null)"})
  compadd -a found || _files
}
compdef _evenkeel evenkeel
`,
  fish: `complete -c evenkeel -f -a '(evenkeel completion words (commandline -opc)[2..-1] 2>/dev/null)'
`,
} as const

/** The commands are a parameter: an import would be a cycle. */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    about: 'print a completion script for bash, zsh or fish',
    usage: 'bash|zsh|fish',
    words: { least: 1, most: Infinity },
    completes: Object.keys(shells),
    examples: [
      'source <(evenkeel completion bash)',
      'evenkeel completion fish > ~/.config/fish/completions/evenkeel.fish',
    ],
    async run(call) {
      const [shell = '', ...typed] = call.words
      if (shell === 'words')
        call.io.stdout.write(
          (await complete(typed, { commands: commands(), call })).map((word) => `${word}\n`).join(''),
        )
      else if (Object.hasOwn(shells, shell)) call.io.stdout.write(shells[shell as keyof typeof shells])
      else
        throw new Failure('usage', `unknown shell ${JSON.stringify(shell)}`, {
          hint: `one of ${Object.keys(shells).join(', ')}`,
        })
      return 0
    },
  }
}

async function complete(
  [name, ...rest]: readonly string[],
  { commands, call }: { commands: readonly Command[]; call: Invocation },
): Promise<readonly string[]> {
  const command = commands.find((each) => each.name === name)
  if (!command) return commands.map((each) => each.name)
  const options = Object.keys({ ...command.options, ...globalOptions }).map((option) => `--${option}`)
  const { completes } = command
  if (rest.some((word) => !word.startsWith('-')) || completes === undefined || completes === 'files') return options
  return completes === 'kinds' ? [...(await kinds(call)), ...options] : [...completes, ...options]
}

/**
 * Empty when no server responds: a completion must not print errors. A key press in some directory reads no file of it,
 * and kinds of another server would be wrong there.
 */
async function kinds(call: Invocation): Promise<readonly string[]> {
  if (await isLocal(call.values, call.io)) return []
  try {
    const client = await call.connect({ warnings: false })
    return (await client.resources()).filter(({ verbs }) => verbs.includes('get')).map(({ plural }) => plural)
  } catch {
    return []
  }
}
