/**
 * A program with the command line of `kube-apiserver`, for envtest: only the server, without controllers.
 *
 * Objects are kept in memory. `--help` is answered before the server code is loaded, because envtest calls it before every
 * start.
 */
import { createLogger, jsonLines, keepHeapHeadroom, SystemClock, SystemRandom } from '#base'
import { allApiServerFlags, apiServerFlags, exitWith, helpOf, readFlags, stopSignal, type Flags } from './flags.ts'

/** Short, because no client waits for requests in flight when a test suite ends. */
const graceMs = 500

const help = `An API server of Evenkeel that takes the flags of kube-apiserver, for envtest. Objects are kept in memory.

Flags:
${helpOf(apiServerFlags)}`

await exitWith(main(process.argv.slice(2)))

async function main(args: readonly string[]): Promise<number> {
  const flags = readFlags(args, allApiServerFlags)
  if (flags.isOn('help')) return print(help)
  if (flags.rest.length > 0) throw new RangeError(`unexpected argument ${JSON.stringify(flags.rest[0])}`)
  const { startServer, versionDocument } = await import('#server')
  if (flags.isOn('version')) return print(`Kubernetes ${String(versionDocument()['gitVersion'])}\n`)
  const { serverOptionsOf } = await import('./api-server-options.ts')
  const clock = new SystemClock()
  const log = createLogger({
    clock,
    level: levelOf(flags),
    sink: jsonLines((text) => {
      process.stderr.write(text)
    }),
  })
  for (const name of flags.unknown) log.warn('flag has no effect', { flag: `--${name}` })
  const endHeadroom = keepHeapHeadroom(clock)
  const stopping = stopSignal()
  const server = await startServer(await serverOptionsOf(flags, { clock, random: new SystemRandom(), log }))
  log.info('serving', { url: server.address?.url })
  await stopping
  await server.stop({ graceMs })
  endHeadroom()
  return 0
}

function levelOf(flags: Flags): 'warn' | 'info' | 'debug' {
  const verbosity = Number(flags.value('v') ?? 0)
  if (verbosity >= 4) return 'debug'
  return verbosity >= 2 ? 'info' : 'warn'
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
