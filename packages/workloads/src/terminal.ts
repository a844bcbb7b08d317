/**
 * Terminals: a program that believes that a person sits in front of it.
 *
 * Node has no pseudo terminals, and this package has no native code. So the program `script` of util-linux opens one:
 *
 *   Evenkeel ──stdin──▶ script ──▶ /dev/pts/4 ──▶ program          echo, Ctrl-C and Ctrl-D are the work of the kernel
 *   Evenkeel ◀─stdout── script ◀── /dev/pts/4 ◀── program
 *   Evenkeel ◀─pipe 3──────────── `tty`, once                       the name of the device, for its size
 *
 * The size is set with `stty -F DEVICE`, which makes the kernel send SIGWINCH to the program. `script` exits with the exit
 * code of the program, or 128 and the number of its signal.
 *
 * Invariant: the words of a command reach the program as they are: the shell that `script` needs gets them quoted.
 */
import { execFile, spawnSync } from 'node:child_process'
import type { TerminalSize } from 'evenkeel/server'
import type { Launch, LaunchFailure } from './process-host.ts'

/** How to open terminals on this machine. */
export interface Terminals {
  /** The command that runs another one in a terminal. The device is written to the file descriptor 3. */
  wrap(launch: Pick<Launch, 'command' | 'env'>): Pick<Launch, 'command' | 'env'> | { readonly failure: LaunchFailure }
  /** Sets the size of a terminal. Resolves also when it is gone. */
  resize(device: string, size: TerminalSize): Promise<void>
}

/** Where the device is written to. */
export const deviceDescriptor = 3

const defaultSize: TerminalSize = { width: 80, height: 24 }
const defaultType = 'xterm-256color'

/** Terminals of the program `script`. */
export class ScriptTerminals implements Terminals {
  readonly #program: string
  #isUsable: boolean | undefined

  constructor({ program = 'script' }: { readonly program?: string } = {}) {
    this.#program = program
  }

  wrap({ command, env }: Pick<Launch, 'command' | 'env'>): ReturnType<Terminals['wrap']> {
    if (!(this.#isUsable ??= isUtilLinux(this.#program)))
      return {
        failure: {
          reason: 'NoTerminal',
          message: `a terminal needs the program script of util-linux: install it (Debian: bsdutils, Fedora: util-linux-script, Alpine: util-linux-misc), or set spec.terminal to false`,
        },
      }
    const { SHELL: shell, ...rest } = env
    const { width, height } = defaultSize
    const lines = [
      shell === undefined ? 'unset SHELL' : `export SHELL=${quote(shell)}`,
      `stty sane rows ${height} cols ${width}`,
      `tty >&${deviceDescriptor}`,
      `exec ${deviceDescriptor}>&-`,
      `exec ${command.map(quote).join(' ')}`,
    ]
    // `script` runs its command with SHELL, whose quotes may be others.
    const wrapped = { TERM: defaultType, ...rest, SHELL: '/bin/sh' }
    return { command: [this.#program, '-qefc', lines.join('; '), '/dev/null'], env: wrapped }
  }

  resize(device: string, { width, height }: TerminalSize): Promise<void> {
    return new Promise((resolve) => {
      execFile('stty', ['-F', device, 'rows', String(height), 'cols', String(width)], () => {
        resolve()
      })
    })
  }
}

/** Other systems have a program of this name with other options. */
function isUtilLinux(program: string): boolean {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 })
  return typeof stdout === 'string' && stdout.includes('util-linux')
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
