/**
 * From a command line to an exit code.
 *
 * Requested output goes to stdout, everything else to stderr. With `--json`, stdout contains only JSON, failures
 * included: `{"error":{"code":…,"message":…,"hint":…}}`.
 */
import type { Client } from 'evenkeel/client'
import { helpOf, helpOfAll, type Command, type ConnectOptions, type Invocation, type Io } from './command.ts'
import { sections } from './commands.ts'
import { connectFor } from './connection.ts'
import { Failure, failureOf } from './failure.ts'
import { commandFirst, nearestWords, parseInvocation } from './parse.ts'
import { safeText } from './terminal.ts'
import { readVersion } from './version.ts'

/** Runs one command. @throws {Error} a bug of this program */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const json = words.includes('--json')
  try {
    return await dispatch(words, io)
  } catch (error) {
    if (io.signal.aborted && (error === io.signal.reason || (error as Error | undefined)?.name === 'AbortError'))
      return 130
    const failure = failureOf(error)
    if (!failure) throw error
    report(failure, io, json)
    return failure.exitCode
  }
}

async function dispatch(given: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = commandFirst(given)
  if (first === undefined || first === '--help' || first === 'help') return help(rest, io)
  if (first === '--version' || first === 'version') return version(io, given.includes('--json'))
  const command = find(first)
  const { values, words } = parseInvocation(command, rest)
  if (values.flag('help')) {
    io.stdout.write(helpOf(command))
    return 0
  }
  const clients: Client[] = []
  // Cancels the requests that a failed command has not awaited.
  const over = new AbortController()
  const signal = AbortSignal.any([io.signal, over.signal])
  const connect = async (options?: ConnectOptions): Promise<Client> => {
    const client = await connectFor(values, io, options)
    clients.push(client)
    return client
  }
  try {
    return await command.run({
      values,
      words,
      io: { ...io, signal },
      connect,
      json: values.flag('json'),
    } satisfies Invocation)
  } finally {
    over.abort()
    for (const client of clients) await client.close()
  }
}

function help([name]: readonly string[], { stdout }: Io): number {
  stdout.write(name === undefined || name.startsWith('-') ? helpOfAll(sections) : helpOf(find(name)))
  return 0
}

async function version({ stdout }: Io, json: boolean): Promise<number> {
  const own = await readVersion()
  stdout.write(`${json ? JSON.stringify({ version: own, node: process.version }) : own}\n`)
  return 0
}

/** @throws {Failure} `usage` */
function find(name: string): Command {
  const commands = sections.flatMap((section) => section.commands)
  const command = commands.find((each) => each.name === name)
  if (command) return command
  const meant = nearestWords(
    name,
    commands.map((each) => each.name),
  )
  throw new Failure('usage', `unknown command ${JSON.stringify(name)}`, {
    hint: meant.length === 0 ? 'evenkeel --help' : meant.map((each) => `evenkeel ${each}`).join(', '),
  })
}

function report({ code, message, hints }: Failure, { stdout, stderr }: Io, json: boolean): void {
  const hint = hints.length === 0 ? undefined : hints.join('; ')
  if (json) stdout.write(`${JSON.stringify({ error: { code, message, ...(hint !== undefined && { hint }) } })}\n`)
  else stderr.write(safeText(`error[${code}]: ${message}\n${hints.map((each) => `Try: ${each}\n`).join('')}`))
}
