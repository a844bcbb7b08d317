/**
 * `evenkeel serve`: runs a control plane until Ctrl-C, for kubectl and every other client.
 */
import { resolve } from 'node:path'
import { keepHeapHeadroom, SystemClock } from 'evenkeel/unstable/base'
import type { Command, OptionSpecs } from '../command.ts'
import { Failure } from '../failure.ts'
import { readServerFlags, serverFlags } from '../server-flags.ts'

/** Options of every command that starts a server. */
export const serveOptions: OptionSpecs = {
  data: {
    type: 'string',
    value: 'FOLDER',
    about: 'where objects, certificates and the token are kept (default: ./data)',
  },
  memory: { type: 'boolean', about: 'keep objects in memory only' },
  port: { type: 'string', value: 'NUMBER', about: 'the port to listen on; 0 takes a free one (default: 6443)' },
  audit: { type: 'boolean', about: 'write who changed what into audit.log in the data folder' },
}

export const serve: Command = {
  name: 'serve',
  about: 'run a control plane that kubectl can talk to',
  options: { ...serveOptions, ...serverFlags },
  details:
    'The administrator of the kubeconfig may do everything. Other users come with --token-auth-file or --client-ca-file.',
  examples: [
    'evenkeel serve',
    'evenkeel serve --memory --port 0 --json',
    'evenkeel serve --token-auth-file users.csv --limit writesMax=50',
  ],
  async run({ values, io, json }) {
    const flags = await readServerFlags(values, io)
    const { openDataPlane } = await import('evenkeel/server')
    const { url, folder, kubeconfig, isDurable, stop } = await openDataPlane({
      folder: resolve(io.cwd, values.text('data') ?? 'data'),
      memory: values.flag('memory'),
      audit: values.flag('audit'),
      port: portOf(values.text('port') ?? '6443'),
      controllersDelayMs,
      ...flags,
    })
    const endHeadroom = keepHeapHeadroom(new SystemClock())
    try {
      const where = isDurable ? folder : 'memory; they are gone when the server stops'
      io.stdout.write(json ? `${JSON.stringify({ url, kubeconfig })}\n` : welcome({ url, kubeconfig, where }))
      await aborted(io.signal)
      if (!json) io.stdout.write('Stopping: watches end, requests in flight finish.\n')
    } finally {
      endHeadroom()
      await stop()
    }
    return 0
  },
}

/** Clients come first: the controllers load a moment after the server is ready. */
const controllersDelayMs = 50

/** A number of a port. @throws {Failure} `usage` */
export function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Failure('usage', `--port must be a number up to 65535, got ${JSON.stringify(text)}`, {
    hint: 'evenkeel serve --port 0',
  })
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve()
        },
        { once: true },
      )
  })
}

function welcome({ url, kubeconfig, where }: { url: string; kubeconfig: string; where: string }): string {
  return `Evenkeel is ready at ${url}
Objects are kept in ${where}

  export KUBECONFIG=${kubeconfig}

Try:
  kubectl get namespaces        or: evenkeel get namespaces
  kubectl create configmap hello --from-literal=who=world
  kubectl create deployment web --image=nginx --replicas=2
  kubectl explain deployment.spec.strategy

Ctrl-C stops the server.
`
}
