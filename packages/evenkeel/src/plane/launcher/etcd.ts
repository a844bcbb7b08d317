/**
 * A program with the command line of `etcd`, which envtest starts before `kube-apiserver`.
 *
 * It answers health checks and stores nothing: the Evenkeel server keeps its objects in memory. Every other request gets
 * 501 with an explanation, because an empty store would be misleading.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenAt } from '#base'
import { exitWith, helpOf, readFlags, stopSignal, type FlagTable } from './flags.ts'

const table = {
  'advertise-client-urls': { takes: 'values', help: 'no effect' },
  'data-dir': { takes: 'value', help: 'no effect: nothing is stored' },
  help: { takes: 'switch', help: 'print this help' },
  'listen-client-urls': { takes: 'values', help: 'URLs to listen on (default http://localhost:2379)' },
  'listen-peer-urls': { takes: 'values', help: 'no effect' },
  name: { takes: 'value', help: 'no effect' },
  'unsafe-no-fsync': { takes: 'switch', help: 'no effect' },
  version: { takes: 'switch', help: 'print the version' },
} as const satisfies FlagTable

const version = '3.6.0+evenkeel'
const help = `A placeholder for etcd, for envtest. It answers /health and stores nothing: Evenkeel's kube-apiserver keeps objects in memory.

Flags:
${helpOf(table)}`

/** Answers by path. */
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
  for (const name of flags.unknown) process.stderr.write(`flag has no effect: --${name}\n`)
  const urls = flags.values('listen-client-urls')
  const stopping = stopSignal()
  await Promise.all((urls.length > 0 ? urls : ['http://localhost:2379']).map(listenOn))
  await stopping
  return 0
}

async function listenOn(text: string): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:')
    throw new RangeError(`--listen-client-urls must be http://HOST:PORT, got ${JSON.stringify(text)}`)
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
    response.writeHead(501).end('this is not etcd: Evenkeel starts a placeholder for envtest, which stores nothing\n')
}
