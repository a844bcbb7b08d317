/**
 * `evenkeel serve`: a control plane of its own until Ctrl-C, for kubectl and every other client.
 */
import { join, resolve } from 'node:path'
import type { Plane } from 'evenkeel/server'
import type { Store } from 'evenkeel/unstable/store'
import type { Command, Io, OptionSpecs, OptionValues } from '../command.ts'
import { Failure } from '../failure.ts'

/** What every command takes that brings a server along. */
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
  options: serveOptions,
  examples: ['evenkeel serve', 'evenkeel serve --memory --port 0 --json'],
  async run({ values, io, json }) {
    await withPlane(values, io, async ({ url, folder, kubeconfig, isDurable }) => {
      if (json) io.stdout.write(`${JSON.stringify({ url, kubeconfig })}\n`)
      else
        io.stdout.write(
          welcome({ url, kubeconfig, where: isDurable ? folder : 'memory: they are gone when this stops' }),
        )
      await aborted(io.signal)
      if (!json) io.stdout.write('Stopping: watches end, requests under way finish.\n')
    })
    return 0
  },
}

/** A plane that runs, and where it keeps things. */
interface RunningPlane {
  readonly plane: Plane
  readonly url: string
  readonly folder: string
  readonly kubeconfig: string
  readonly isDurable: boolean
}

/** Runs a plane as the options say while `use` lasts; leaves its objects and nothing else. */
async function withPlane(
  values: OptionValues,
  io: Pick<Io, 'cwd'>,
  use: (running: RunningPlane) => Promise<void>,
): Promise<void> {
  const [{ ensureIdentity, startPlane, writeKubeconfig }, { openFileStore, openMemoryStore }] = await Promise.all([
    import('evenkeel/server'),
    import('evenkeel/unstable/store'),
  ])
  const folder = resolve(io.cwd, values.text('data') ?? 'data')
  const port = portOf(values.text('port') ?? '6443')
  const isDurable = !values.flag('memory')
  const store: Store = isDurable ? await openFileStore(join(folder, 'store')) : openMemoryStore()
  try {
    const identity = await ensureIdentity(join(folder, 'identity'))
    const plane = await startPlane({
      store,
      listen: { port, identity },
      ...(values.flag('audit') && { audit: { file: { path: join(folder, 'audit.log') } } }),
    })
    try {
      const { url, token, caPem } = plane.address ?? { url: '', token: '', caPem: '' }
      const kubeconfig = join(folder, 'kubeconfig')
      await writeKubeconfig(kubeconfig, { server: url, token, ...(caPem !== undefined && { caPem }) })
      await use({ plane, url, folder, kubeconfig, isDurable })
    } finally {
      await plane.stop()
    }
  } finally {
    await store.close()
  }
}

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
  kubectl get namespaces        or: evenkeel get namespaces

Ctrl-C stops it.
`
}
