/**
 * A program with the command line of `etcd`, as envtest runs it before `kube-apiserver`.
 *
 * It says that it is well, and keeps nothing: our server has its objects in its own memory. Whoever asks it for keys is
 * told so, rather than being left to wonder about an empty store.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenAt } from '#base'
import { exitWith, helpOf, readFlags, stopSignal, type FlagTable } from './flags.ts'

const table = {
  'advertise-client-urls': { takes: 'values', help: 'taken, without effect' },
  'data-dir': { takes: 'value', help: 'taken, without effect: nothing is kept' },
  help: { takes: 'switch', help: 'say this' },
  'listen-client-urls': { takes: 'values', help: 'where to listen (default http://localhost:2379)' },
  'listen-peer-urls': { takes: 'values', help: 'taken, without effect' },
  name: { takes: 'value', help: 'taken, without effect' },
  'unsafe-no-fsync': { takes: 'switch', help: 'taken, without effect' },
  version: { takes: 'switch', help: 'say what this is' },
} as const satisfies FlagTable

const version = '3.6.0+evenkeel'
const help = `Stands where envtest expects etcd. It answers /health and keeps nothing: Evenkeel's kube-apiserver has its objects in memory.

Flags:
${helpOf(table)}`

/** What is answered, by path. */
const answers: ReadonlyMap<string, string> = new Map([
  ['/health', '{"health":"true","reason":""}'],
  ['/livez', 'ok'],
  ['/readyz', 'ok'],
  ['/version', JSON.stringify({ etcdserver: version, etcdcluster: version, storage: 'none' })],
])

await exitWith(main(process.argv.slice(2)))

async function main(args: readonly string[]): Promise<number> {
  const flags = readFlags(args, table)
  if (flags.isOn('help') || flags.isOn('version')) {
    process.stdout.write(flags.isOn('help') ? help : `etcd Version: ${version}\n`)
    return 0
  }
  for (const name of flags.unknown) process.stderr.write(`a flag that has no effect here: --${name}\n`)
  const urls = flags.values('listen-client-urls')
  const stopping = stopSignal()
  await Promise.all((urls.length > 0 ? urls : ['http://localhost:2379']).map(listenOn))
  await stopping
  return 0
}

async function listenOn(text: string): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:')
    throw new RangeError(`--listen-client-urls must be http://HOST:PORT here, got ${JSON.stringify(text)}`)
  const listening = await listenAt(createServer(answer), {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 80),
    protocol: 'http',
  })
  process.stderr.write(`serving ${listening}\n`)
}

function answer({ url = '/' }: IncomingMessage, response: ServerResponse): void {
  const text = answers.get(url.replace(/\?.*$/s, ''))
  if (text !== undefined) response.end(text)
  else
    response
      .writeHead(501)
      .end('nothing is kept here: this is not etcd, but what Evenkeel puts in its place for envtest\n')
}
