/**
 * `evenkeel exec` and `evenkeel attach`: a command beside an object, and the terminal of an object.
 *
 * They work with every kind that has the subresource `exec` or `attach`: processes, pods of a cluster, your own.
 */
import type { RemoteCommandOptions } from 'evenkeel/client'
import { refTo } from 'evenkeel/client'
import { oneNamespaceOption, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUpObject, oneNamespaceOf } from '../lookup.ts'
import { orSuggest } from '../not-found.ts'
import { connectTerminal } from '../remote-terminal.ts'

const containerOption = {
  container: { type: 'string', short: 'c', value: 'NAME', about: 'in this container' },
} as const

export const exec: Command = {
  name: 'exec',
  about: 'run a command beside an object',
  usage: 'KIND/NAME -- COMMAND ...',
  words: { least: 2, most: Infinity },
  completes: 'kinds',
  options: {
    ...oneNamespaceOption,
    stdin: { type: 'boolean', short: 'i', about: 'pass on standard input' },
    tty: { type: 'boolean', short: 't', about: 'run it in a terminal' },
    ...containerOption,
  },
  details: 'The exit code is that of the command. It ends when you leave. Its kind needs the subresource exec.',
  examples: [
    'evenkeel exec process/web -- env',
    'evenkeel exec -it process/web -- sh',
    'evenkeel exec pod/web-0 -c app -- ls /',
  ],
  run: async (call) => {
    const [object = '', ...command] = call.words
    const tty = call.values.flag('tty')
    const stdin = call.values.flag('stdin')
    if (tty && stdin && !call.io.terminal)
      throw new Failure('usage', '-it needs a terminal, and standard input is something else', { hint: 'leave out -t' })
    return connectWith(call, { object, subresource: 'exec', isDetachable: false, options: { command, tty, stdin } })
  },
}

export const attach: Command = {
  name: 'attach',
  about: 'take part in the terminal of an object',
  usage: 'KIND/NAME',
  words: { least: 1, most: 1 },
  completes: 'kinds',
  options: { ...oneNamespaceOption, ...containerOption },
  details:
    'Ctrl-P Ctrl-Q leaves it running. Ctrl-C goes to its program. A process needs spec.terminal: true; its exit code is that of this command.',
  examples: ['evenkeel attach process/repl'],
  run: (call) =>
    connectWith(call, {
      object: call.words[0] ?? '',
      subresource: 'attach',
      isDetachable: true,
      options: { tty: true, stdin: true },
    }),
}

interface Target {
  readonly object: string
  readonly subresource: string
  readonly isDetachable: boolean
  readonly options: RemoteCommandOptions & { readonly tty: boolean; readonly stdin: boolean }
}

async function connectWith(call: Invocation, { object, subresource, isDetachable, options }: Target): Promise<number> {
  const { io, values } = call
  const client = await call.connect()
  const { resource, name } = await lookUpObject(client, object)
  if (!resource.subresources.includes(subresource))
    throw new Failure(
      'usage',
      `${resource.plural} have no subresource ${subresource}: the program that serves them must have one`,
      {
        hint: `evenkeel logs ${object}`,
      },
    )
  const namespace = oneNamespaceOf(values, resource, client)
  const ref = refTo(resource, { name, ...(namespace !== undefined && { namespace }) })
  const container = values.text('container')
  const connecting = client.subresource(subresource).connect(ref, {
    ...options,
    ...(container !== undefined && { container }),
    signal: io.signal,
  })
  const command = await orSuggest(connecting, client, {
    object: { apiVersion: resource.apiVersion, kind: resource.kind, name, namespace },
    signal: io.signal,
  })
  return connectTerminal(command, call, {
    stdin: options.stdin,
    isRaw: options.tty && options.stdin && io.terminal !== undefined,
    isDetachable,
  })
}
