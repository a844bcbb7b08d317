/**
 * An Evenkeel with containers that a test kills: `node tools/run.mjs killed-evenkeel.fixture.ts FOLDER IMAGE`. The runtime is that of
 * `DOCKER_HOST`. It writes `pid N`, and `ready` when its containers run.
 */
import { startTestPlane } from 'evenkeel/testing'
import { workloads } from '../workloads.ts'
import { Container, ContainerNetwork } from './container-kind.ts'

const [folder = '', image = ''] = process.argv.slice(2)
const work = workloads({ folder, cwd: folder })
const { client, until } = await startTestPlane({ controllers: work.controllers })
const meta = (name: string) => ({ name, namespace: 'default' })
const command = ['sleep', '1000']
const isReady = async (name: string): Promise<boolean> =>
  (await client.get(Container, meta(name))).status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  ) ?? false

process.stdout.write(`pid ${process.pid}\n`)
await client.create(ContainerNetwork, { metadata: meta('net'), spec: {} } as never)
await client.create(Container, {
  metadata: meta('killed'),
  spec: { image, command, networks: [{ name: 'net' }] },
} as never)
await client.create(Container, {
  metadata: meta('kept'),
  spec: { image, command, lifetime: 'Persistent', containerName: 'kept' },
} as never)
await until(async () => (await isReady('killed')) && (await isReady('kept')), { timeoutMs: 120_000 })
process.stdout.write('ready\n')
