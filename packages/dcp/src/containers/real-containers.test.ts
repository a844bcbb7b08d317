/** Containers of Podman run by a dcp in a process of its own: behind a Service, with a network, a log and an exec; and its end. */
import { once } from 'node:events'
import type { Kind, ObjectOf, Stored } from 'evenkeel'
import { connect, type Client } from 'evenkeel/client'
import { sleep, SystemClock } from 'evenkeel/unstable/base'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  image,
  podmanMissing,
  startPodman,
  withReason,
  type Podman,
} from '../../../workloads/src/containers/podman.fixture.ts'
import { TestSession, untilThere } from '../dcp-process.fixture.ts'
import { Container, ContainerExec, ContainerVolume } from '../kinds/container.ts'
import { ContainerNetwork, Service } from '../kinds/network.ts'

const [longMs, clock] = [300_000, new SystemClock()]
let started: Promise<Podman> | undefined
const podman = (): Promise<Podman> => (started ??= startPodman())

/** A dcp that uses this Podman, and a client of it. */
async function startDcp(session: TestSession, { socketPath }: Podman) {
  const words = ['start-apiserver', '--kubeconfig', session.kubeconfig, '--container-runtime', 'podman']
  const { child, ended } = session.start(words, { DOCKER_HOST: `unix://${socketPath}` })
  await untilThere(session.kubeconfig)
  return { child, ended, client: await connect({ kubeconfig: session.kubeconfig }) }
}

/** An object, as soon as a watch shows that it is so. */
async function seen<K extends Kind>(
  client: Client,
  kind: K,
  { name, state }: { readonly name: string; readonly state: string },
): Promise<Stored<ObjectOf<K>> & { readonly status: Readonly<Record<string, unknown>> }> {
  for await (const event of client.watch(kind)) {
    if (!('object' in event)) continue
    const object = event.object as never as Awaited<ReturnType<typeof seen<K>>>
    if (object.metadata.name === name && object.status?.['state'] === state) return object
    if (object.metadata.name === name && object.status?.['state'] === 'FailedToStart')
      throw new Error(`${kind.kind} ${name} has failed to start: ${String(object.status['message'])}`)
  }
  throw new Error('the watch has ended')
}

describe.skipIf(podmanMissing !== undefined)(withReason('Podman'), { timeout: longMs }, () => {
  let session: TestSession
  beforeEach(async () => {
    session = await TestSession.open()
  }, longMs)
  afterEach(() => session.close(), longMs)
  afterAll(async () => {
    await (await started)?.stop()
  }, longMs)

  test('a Container is behind its Service, in its network, and has its log; all of it goes with the session', async () => {
    const runtime = await podman()
    const { child, ended, client } = await startDcp(session, runtime)
    await client.create(Service, { metadata: { name: 'web' }, spec: {} })
    await client.create(ContainerNetwork, { metadata: { name: 'back' }, spec: {} })
    await client.create(ContainerVolume, { metadata: { name: 'data' }, spec: { name: 'data', persistent: false } })
    const web = await client.create(Container, {
      metadata: { name: 'web', annotations: { 'service-producer': '[{"serviceName":"web","port":80}]' } },
      spec: {
        image,
        command: 'sh',
        args: ['-c', 'echo ready $GREETING; httpd -f -p {{ portForServing "web" }} -h /www'],
        env: [{ name: 'GREETING', value: 'hello' }],
        ports: [{ containerPort: 80 }],
        networks: [{ name: 'back', aliases: ['www'] }],
        volumeMounts: [{ type: 'volume', source: 'data', target: '/data' }],
      },
    })
    const running = await seen(client, Container, { name: 'web', state: 'Running' })
    expect(running.status).toMatchObject({
      containerId: runtime.run('ps', '--no-trunc', '--quiet'),
      effectiveEnv: expect.arrayContaining([{ name: 'GREETING', value: 'hello' }]) as unknown,
      networks: ['/back'],
      healthStatus: 'Healthy',
    })
    const { status } = await seen(client, Service, { name: 'web', state: 'Ready' })
    const page = `http://localhost:${String(status['effectivePort'])}/index.html`
    const read = async (): Promise<string> => (await fetch(page, { headers: { connection: 'close' } })).text()
    let text = ''
    // The Endpoint is there before the program listens.
    while (text !== 'hello\n') text = await read().catch(() => sleep(clock, 20).then(() => ''))
    let log = ''
    for await (const piece of client.subresource('log').stream(web, { parameters: { follow: true } })) {
      log += piece
      if (log.includes('\n')) break
    }
    expect(log).toBe('ready hello\n')
    await client.create(ContainerExec, {
      metadata: { name: 'look' },
      spec: { containerName: 'web', command: 'sh', args: ['-c', 'wget -q -O - http://127.0.0.1/index.html; exit 3'] },
    })
    const look = await seen(client, ContainerExec, { name: 'look', state: 'Finished' })
    expect(look.status).toMatchObject({ exitCode: 3 })
    expect(await client.subresource('log').text(look)).toBe('hello\n')
    await client.create(Container, {
      metadata: { name: 'kept' },
      spec: { image, command: 'sleep', args: ['1000'], containerName: 'kept', persistent: true },
    })
    await seen(client, Container, { name: 'kept', state: 'Running' })
    await client.close()
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect(runtime.run('ps', '--all', '--format', '{{.Names}}')).toBe('kept')
    expect(runtime.run('network', 'ls', '--format', '{{.Name}}')).toBe('podman')
    expect(runtime.run('volume', 'ls', '--quiet')).toBe('')
    runtime.run('rm', '--force', '--time', '0', 'kept')
  })

  test('a dcp that is killed leaves no container of its session', async () => {
    const runtime = await podman()
    const { child, client } = await startDcp(session, runtime)
    await client.create(Container, { metadata: { name: 'killed' }, spec: { image, command: 'sleep', args: ['1000'] } })
    await seen(client, Container, { name: 'killed', state: 'Running' })
    await client.close()
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    while (runtime.run('ps', '--all', '--quiet') !== '') await sleep(clock, 50)
    expect(runtime.run('ps', '--all', '--quiet')).toBe('')
  })
})
