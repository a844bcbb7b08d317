/** Containers of Podman: the contract by socket and by executable, objects on a real plane, and an Evenkeel that is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { refTo, type RemoteCommandOptions } from 'evenkeel/client'
import { sleep, SystemClock } from 'evenkeel/unstable/base'
import { CliRuntime } from './cli-runtime.ts'
import { conditionOf, isReady, isRun, phaseIs } from './container-plane.fixture.ts'
import { Container, ContainerNetwork, ContainerVolume } from './container-kind.ts'
import { EngineRuntime } from './engine-runtime.ts'
import { image, podmanMissing, startPodman, withReason, type Podman } from './podman.fixture.ts'
import { startRealContainers } from './real-plane.fixture.ts'
import { testRuntime } from './runtime-contract.fixture.ts'

const root = dirname(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))))
const clock = new SystemClock()
let started: Promise<Podman> | undefined
const podman = (): Promise<Podman> => (started ??= startPodman())
const longMs = 300_000

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of output) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe.skipIf(podmanMissing !== undefined)(withReason('Podman'), { timeout: longMs }, () => {
  afterAll(async () => {
    await (await started)?.stop()
  }, longMs)

  const targetOf = (registry: string) => ({
    image,
    missingImage: `${registry}/missing/app:1`,
    deniedImage: `${registry}/denied/app:1`,
    settle: () => sleep(clock, 20),
    now: () => clock.now(),
  })
  testRuntime('Engine API over a socket', async () => {
    const { socketPath, registry } = await podman()
    return { runtime: new EngineRuntime({ socketPath, clock }), ...targetOf(registry) }
  })
  testRuntime('executable', async () => {
    const { executable, env, registry } = await podman()
    return { runtime: new CliRuntime({ executable, env }), ...targetOf(registry) }
  })

  test('W36, W37: a server with a port, a network and a volume is ready, is made again, and goes', async () => {
    const runtime = await podman()
    const world = await startRealContainers(runtime)
    await world.create('back', {}, ContainerNetwork)
    await world.create('data', { persistent: false }, ContainerVolume)
    runtime.run('volume', 'create', 'theirs')
    await world.create('theirs', { volumeName: 'theirs', persistent: false }, ContainerVolume)
    await world.create('web', {
      image,
      command: ['httpd', '-f', '-v', '-p', '80', '-h', '/www'],
      ports: [{ name: 'http', containerPort: 80 }],
      networks: [{ name: 'back', aliases: ['www'] }],
      volumeMounts: [
        { volume: 'data', target: '/data' },
        { volume: 'theirs', target: '/theirs' },
      ],
      stop: { gracePeriodSeconds: 0 },
      probes: { readiness: { http: { port: 'http', path: '/index.html' }, periodSeconds: 0.1 } },
    })
    await world.create('client', {
      image,
      command: ['sleep', '1000'],
      networks: [{ name: 'back' }],
      dependsOn: [{ name: 'web' }],
      stop: { gracePeriodSeconds: 0 },
      probes: { readiness: { exec: { command: ['nslookup', 'www'] }, periodSeconds: 0.2, timeoutSeconds: 20 } },
    })
    const { status } = await world.until('web', isReady)
    expect(status?.run?.networks?.[0]?.address).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
    await world.until('client', isReady)
    const port = status?.run?.ports?.[0]?.port
    expect(await (await fetch(`http://127.0.0.1:${port}/index.html`)).text()).toBe('hello\n')
    runtime.run('rm', '--force', '--time', '0', status?.run?.containerName ?? '')
    const again = await world.until('web', isRun(2))
    expect(again.status?.run).toMatchObject({ cause: 'its container was removed by another program' })
    expect(again.status?.run?.ports?.[0]?.port).toBe(port)
    for (const name of ['web', 'client']) await world.remove(name)
    for (const name of ['web', 'client']) await world.untilGone(name)
    for (const name of ['data', 'theirs']) {
      await world.remove(name, ContainerVolume)
      await world.untilGone(name, ContainerVolume)
    }
    expect(runtime.run('ps', '--all', '--quiet')).toBe('')
    expect(runtime.run('volume', 'ls', '--quiet')).toBe('theirs')
  })

  test('W36: a port that is taken, a pull that is denied, a program that ends, and one that is paused', async () => {
    const runtime = await podman()
    const world = await startRealContainers(runtime)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const never = { restart: { policy: 'Never' }, stop: { gracePeriodSeconds: 0 } }
    await world.create('port', { image, ports: [{ name: 'http', containerPort: 80, hostPort: port }] })
    await world.create('denied', { image: `${runtime.registry}/denied/app:1` })
    await world.create('three', { image, command: ['sh', '-c', 'echo last words; exit 3'], ...never })
    await world.create('calm', { image, command: ['sleep', '1000'], ...never })
    const taken = await world.until('port', (object) => conditionOf(object, 'Started')?.reason === 'PortTaken')
    expect(conditionOf(taken, 'Started')?.message).toContain(`process ${process.pid}`)
    await world.until('denied', (object) => conditionOf(object, 'ImageReady')?.reason === 'PullDenied')
    const three = await world.until('three', phaseIs('Failed'))
    expect(three.status?.run).toMatchObject({ exitCode: 3, reason: 'Exited' })
    const log: Uint8Array[] = []
    for await (const bytes of world.work.containerLog(three, { follow: true })) log.push(bytes)
    expect(Buffer.concat(log).toString()).toBe('last words\n')
    const { status } = await world.until('calm', isReady)
    runtime.run('pause', status?.run?.containerName ?? '')
    await world.until('calm', phaseIs('Paused'))
    await world.remove('calm')
    await world.untilGone('calm')
  })

  test.each(['socket', 'executable'])(
    'W47: exec runs in a container, with stdin and a terminal, by %s',
    async (way) => {
      const runtime = await podman()
      const world = await startRealContainers(runtime, way === 'socket' ? undefined : new CliRuntime(runtime))
      await world.create('web', { image, command: ['sleep', '1000'], stop: { gracePeriodSeconds: 0 } })
      await world.until('web', isReady)
      const web = refTo(Container, { name: 'web', namespace: 'default' })
      const exec = (command: readonly string[], options: RemoteCommandOptions = {}) =>
        world.client.subresource('exec').connect(web, { command, ...options })
      const plain = await exec(['sh', '-c', 'cat; echo $EVENKEEL_HOST; exit 7'], { stdin: true })
      const output = textOf(plain.stdout)
      await plain.stdin.write(Buffer.from('some '.repeat(100_000)))
      plain.stdin.end()
      expect(await plain.result).toEqual({ exitCode: 7 })
      expect(await output).toBe(`${'some '.repeat(100_000)}host.containers.internal\n`)
      const shell = await exec(['sh'], { stdin: true, tty: true })
      const shown = textOf(shell.stdout)
      await shell.stdin.write(Buffer.from('cd /www\n'))
      await shell.stdin.write(Buffer.from('ls; exit 5\n'))
      expect(await shell.result).toEqual({ exitCode: 5 })
      expect(await shown).toContain('index.html')
      const missing = await exec(['no-such-program'])
      const said = textOf(missing.stderr)
      expect([await missing.result, await said]).toEqual([
        { exitCode: 127 },
        expect.stringContaining('"no-such-program": executable file not found') as string,
      ])
    },
  )

  test('the log of a container is followed through the server until it ends', async () => {
    const world = await startRealContainers(await podman())
    const script = 'echo one; sleep 1; echo two >&2'
    await world.create('web', { image, command: ['sh', '-c', script], restart: { policy: 'Never' } })
    await world.until('web', (object) => object.status?.run?.startedAt !== undefined)
    const web = refTo(Container, { name: 'web', namespace: 'default' })
    let text = ''
    for await (const piece of world.client.subresource('log').stream(web, { parameters: { follow: true } }))
      text += piece
    expect(text).toBe('one\ntwo\n')
  })

  test.each(['socket', 'executable'])('W40: containers end in order with the program, by %s', async (way) => {
    const runtime = await podman()
    const world = await startRealContainers(runtime, way === 'socket' ? undefined : new CliRuntime(runtime))
    const quick = 'trap "exit 0" TERM; while :; do sleep 0.1; done'
    await world.create('db', { image, command: ['sh', '-c', quick], stop: { gracePeriodSeconds: 60 } })
    await world.create('web', {
      image,
      command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'],
      dependsOn: [{ name: 'db' }],
      stop: { gracePeriodSeconds: 1 },
    })
    await world.until('web', isReady)
    const { outcomes } = await world.work.shutdown()
    expect(outcomes.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(['web Killed', 'db Stopped'])
    expect(runtime.run('ps', '--all', '--quiet')).toBe('')
  })

  test('W38: an image is built from a Dockerfile without what .dockerignore names; a failing build shows its last lines', async () => {
    const world = await startRealContainers(await podman())
    const write = (name: string, text: string): void => {
      writeFileSync(join(world.folder, 'app', name), text)
    }
    write('Dockerfile', `FROM ${image}\nARG CODE\nCOPY . /app\nRUN echo building && exit $CODE\n`)
    write('kept.txt', 'kept\n')
    write('secret.txt', 'secret\n')
    write('.dockerignore', 'secret.*\n')
    const spec = (code: string) => ({
      build: { context: '.', args: [{ name: 'CODE', value: code }] },
      command: ['ls', '/app'],
      restart: { policy: 'Never' },
    })
    await world.create('app', spec('7'))
    const failed = await world.until('app', phaseIs('Failed'))
    expect(conditionOf(failed, 'ImageReady')).toMatchObject({ reason: 'BuildFailed' })
    expect(conditionOf(failed, 'ImageReady')?.message).toMatch(/building[^]*exit status 7|exit status 7[^]*building/)
    await world.patch('app', spec('0'))
    const done = await world.until('app', phaseIs('Succeeded'))
    const log: Uint8Array[] = []
    for await (const bytes of world.work.containerLog(done)) log.push(bytes)
    expect(Buffer.concat(log).toString()).toContain('kept.txt')
    expect(Buffer.concat(log).toString()).not.toContain('secret.txt')
  })

  test.each(['socket', 'executable'])('kill -9 of Evenkeel leaves no container of the session, by %s', async (way) => {
    const runtime = await podman()
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-killed-'))
    onTestFinished(() => {
      runtime.run('rm', '--all', '--force', '--time', '0')
      rmSync(folder, { recursive: true, force: true })
    })
    const { DOCKER_HOST: _, ...env } = { ...process.env, ...runtime.env }
    const fixture = join(dirname(fileURLToPath(import.meta.url)), 'killed-evenkeel.fixture.ts')
    const child = spawn(process.execPath, [join(root, 'tools/run.mjs'), fixture, folder, image], {
      env: way === 'socket' ? { ...env, DOCKER_HOST: `unix://${runtime.socketPath}` } : env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const closed = once(child, 'close')
    let pid = 0
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('pid ')) pid = Number(line.slice(4))
      if (line === 'ready') break
    }
    expect(runtime.run('ps', '--format', '{{.Names}}').split('\n')).toHaveLength(2)
    process.kill(pid, 'SIGKILL')
    await closed
    while (runtime.run('ps', '--all', '--format', '{{.Names}}') !== 'kept') await sleep(clock, 50)
    while (runtime.run('network', 'ls', '--format', '{{.Name}}') !== 'podman') await sleep(clock, 50)
  })
})
