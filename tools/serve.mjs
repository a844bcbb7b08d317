/**
 * Runs the API server on a durable store until it is told to stop: `node tools/serve.mjs --help`.
 *
 * Uses the built package, so that it starts as fast as it does for users.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const help = `npm start -- serve [options] [command]

Without a command: runs a control plane that kubectl and every other Kubernetes client can talk to.

  snapshot save FILE       writes a backup of all objects into a new file
  snapshot restore FILE    makes the objects of a backup those of a new --data folder

  --data FOLDER     where objects, certificates and the token are kept (default: ./data)
  --memory          keep objects in memory only
  --audit           write who changed what into audit.log in the --data folder (at most 60 MiB)
  --port NUMBER     the port to listen on; 0 takes a free one (default: 6443)
  --ready-json      print one line of JSON when ready, nothing else
  --help
`

const options = {
  data: { type: 'string', default: 'data' },
  memory: { type: 'boolean', default: false },
  audit: { type: 'boolean', default: false },
  port: { type: 'string', default: '6443' },
  'ready-json': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
}

/** Clients are answered first: the controllers load a little later, and nobody waits for them. */
const controllersDelayMs = 50

// Whoever reads our output may stop reading, as `head` does; that is no error of ours.
process.stdout.on('error', () => undefined)
process.exitCode = await main()

async function main() {
  let values
  let positionals
  try {
    ;({ values, positionals } = parseArgs({ options, allowPositionals: true }))
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
      throw new RangeError(`--port must be a number up to 65535, got ${JSON.stringify(values.port)}`)
  } catch (error) {
    console.error(`Error: ${error.message}\n\n${help}`)
    return 2
  }
  if (values.help) {
    console.log(help)
    return 0
  }
  try {
    if (positionals.length > 0) return await snapshot(values.data, positionals)
    await serve(values)
    return 0
  } catch (error) {
    if (!isExpected(error)) throw error
    console.error(`Error: ${sayWhatToDo(error)}`)
    return 1
  }
}

async function serve({ data, memory, audit, port, 'ready-json': readyJson }) {
  const [{ ensureIdentity, startPlane, writeKubeconfig }, { openFileStore, openMemoryStore }] = await Promise.all([
    import('evenkeel/server'),
    import('evenkeel/unstable/store'),
  ])
  const folder = resolve(data)
  const store = memory ? openMemoryStore() : await openFileStore(join(folder, 'store'))
  try {
    const identity = await ensureIdentity(join(folder, 'identity'))
    const server = await startPlane({
      store,
      listen: { port: Number(port), identity },
      controllersDelayMs,
      ...(audit && { audit: { file: { path: join(folder, 'audit.log') } } }),
    })
    const { url, token, caPem } = server.address
    const kubeconfig = join(folder, 'kubeconfig')
    await writeKubeconfig(kubeconfig, { server: url, token, caPem })
    if (readyJson) console.log(JSON.stringify({ url, token, caPem, kubeconfig }))
    else console.log(welcome({ url, kubeconfig, folder, memory }))
    await stopSignal()
    if (!readyJson) console.log('Stopping: watches end, requests under way finish.')
    await server.stop()
  } finally {
    await store.close()
  }
}

async function snapshot(data, [topic, verb, file, ...rest]) {
  if (topic !== 'snapshot' || (verb !== 'save' && verb !== 'restore') || file === undefined || rest.length > 0) {
    console.error(`Error: that is not a command\n\n${help}`)
    return 2
  }
  const { openFileStore, restoreBackup, saveBackup } = await import('evenkeel/unstable/store')
  const folder = join(resolve(data), 'store')
  if (verb === 'restore') {
    const { entries, revision } = await restoreBackup(file, folder)
    console.log(`${entries} objects restored into ${folder}; versions go on from ${revision}`)
    return 0
  }
  const store = await openFileStore(folder)
  try {
    const { bytes, revision } = await saveBackup(store, file)
    console.log(`version ${revision} saved to ${file}, ${bytes} bytes`)
    return 0
  } finally {
    await store.close()
  }
}

function welcome({ url, kubeconfig, folder, memory }) {
  return `Evenkeel is ready at ${url}
Objects are kept in ${memory ? 'memory: they are gone when this stops' : folder}

  export KUBECONFIG=${kubeconfig}

Try:
  kubectl get namespaces
  kubectl create configmap hello --from-literal=who=world
  kubectl create deployment web --image=nginx --replicas=2
  kubectl get deployments,configmaps -o wide
  kubectl get configmaps --watch
  kubectl explain deployment.spec.strategy

Ctrl-C stops it.`
}

function stopSignal() {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  })
}

function isExpected(error) {
  return ['StoreError', 'IdentityError'].includes(error?.name) || ['EADDRINUSE', 'EACCES'].includes(error?.code)
}

function sayWhatToDo(error) {
  if (error.code === 'EADDRINUSE')
    return `port ${error.port} is taken: stop what uses it, or choose another with --port`
  if (error.code === 'EACCES')
    return `${error.message}: choose a port above 1023 with --port, and a folder you may write to with --data`
  return error.message
}
