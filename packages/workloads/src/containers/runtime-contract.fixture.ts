/** What every container runtime does: one suite for the one in memory, the Engine API and the executable. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ContainerPlan, ContainerRuntime, LogPiece, RuntimeEvent } from './container-runtime.ts'

interface ContractTarget {
  readonly runtime: ContainerRuntime
  /** An image with a shell. */
  readonly image: string
  /** Images that a registry does not have, and does not give. */
  readonly missingImage: string
  readonly deniedImage: string
  /** Lets what was begun happen: simulated time does not pass by itself. */
  readonly settle: () => Promise<void>
  readonly now: () => number
}

async function textOf(pieces: AsyncIterable<LogPiece>, stream?: LogPiece['stream']): Promise<string> {
  const found: Uint8Array[] = []
  for await (const piece of pieces) if (stream === undefined || piece.stream === stream) found.push(piece.bytes)
  return Buffer.concat(found).toString()
}

/** The target with what its tests need, made once. */
function openerOf(make: () => Promise<ContractTarget>) {
  let target: Promise<ContractTarget> | undefined
  const names = new Set<string>()
  const open = async () => {
    const { runtime, ...rest } = await (target ??= make())
    const plan = (container: string, script: string, more: Partial<ContainerPlan> = {}): ContainerPlan => ({
      name: container,
      image: rest.image,
      command: ['sh', '-c', script],
      env: {},
      labels: { contract: container },
      ...{ ports: [], mounts: [], networks: [] },
      ...{ stopSignal: 'SIGTERM', extraHosts: [] },
      ...more,
    })
    const create = async (...parameters: Parameters<typeof plan>): Promise<string> => {
      names.add(parameters[0])
      const { id } = await runtime.createContainer(plan(...parameters))
      onTestFinished(() => runtime.removeContainer(id))
      return id
    }
    const until = async (id: string, state: string) => {
      for (;;) {
        const facts = await runtime.findContainer(id)
        if (facts?.state === state) return facts
        await rest.settle()
      }
    }
    return { ...rest, runtime, plan, create, until }
  }
  return { open, names }
}

type Open = ReturnType<typeof openerOf>['open']

/** Images and containers: made, started, ended, removed. */
function testContainers(open: Open): void {
  test('an image is found or not; a pull says whether it does not exist or is denied', async () => {
    const { runtime, image, missingImage, deniedImage } = await open()
    expect(await runtime.findImage(image)).toMatchObject({ id: expect.any(String) as string })
    expect(await runtime.findImage('no/such:image')).toBeUndefined()
    await expect(runtime.pullImage(missingImage)).rejects.toMatchObject({ code: 'ImageNotFound' })
    await expect(runtime.pullImage(deniedImage)).rejects.toMatchObject({ code: 'PullDenied' })
  })

  test('a container is created, started, listed by its labels, ends with its exit code, and is removed', async () => {
    const { runtime, create, until, now } = await open()
    const id = await create('contract-exit', 'echo out; echo err >&2; exit 3', {
      labels: { contract: 'exit', other: 'x' },
    })
    expect(await runtime.findContainer('contract-exit')).toMatchObject({ id, state: 'created' })
    await runtime.startContainer(id)
    const facts = await until(id, 'exited')
    expect(facts).toMatchObject({ name: 'contract-exit', exitCode: 3, isOomKilled: false })
    expect(Math.abs((facts.finishedAtMs ?? 0) - now())).toBeLessThan(600_000)
    expect((await runtime.listContainers({ contract: 'exit' })).map((one) => one.id)).toEqual([id])
    expect(await runtime.listContainers({ contract: 'exit', other: 'y' })).toEqual([])
    expect(facts.labels['other']).toBe('x')
    expect(await textOf(runtime.streams.logs(id), 'stdout')).toBe('out\n')
    expect(await textOf(runtime.streams.logs(id), 'stderr')).toBe('err\n')
    expect(await textOf(runtime.streams.logs(id, { timestamps: true, tailLines: 1 }))).toMatch(
      /^\d{4}-\d\d-\d\dT\S+ \S+\n$/,
    )
    await runtime.removeContainer(id)
    expect(await runtime.findContainer(id)).toBeUndefined()
    // Twice is the same as once.
    await runtime.removeContainer(id)
  })

  test('a name is given once, an image and a program have to exist', async () => {
    const { runtime, create, plan } = await open()
    await create('contract-name', 'sleep 1000')
    await expect(runtime.createContainer(plan('contract-name', 'true'))).rejects.toMatchObject({ code: 'Conflict' })
    await expect(
      runtime.createContainer(plan('contract-image', 'true', { image: 'localhost/no-such:1' })),
    ).rejects.toMatchObject({ code: 'ImageNotFound' })
    const id = await create('contract-command', '', { command: ['no-such-program'] })
    await expect(runtime.startContainer(id)).rejects.toMatchObject({ code: 'CommandNotFound' })
  })

  test('signals end a container, one that ignores them is killed, and one that has ended is a conflict', async () => {
    const { runtime, create, until } = await open()
    const polite = await create('contract-polite', 'sleep 1000', {
      command: ['sleep', '1000'],
      stopSignal: 'SIGKILL',
    })
    await runtime.startContainer(polite)
    await runtime.killContainer(polite, 'SIGKILL')
    expect(await until(polite, 'exited')).toMatchObject({ exitCode: 137 })
    await expect(runtime.killContainer(polite, 'SIGTERM')).rejects.toBeInstanceOf(Error)
    await expect(runtime.killContainer('contract-nobody', 'SIGTERM')).rejects.toMatchObject({ code: 'NotFound' })
  })
}

/** Programs in containers, events and logs. */
function testStreams(open: Open): void {
  test('a program runs in a container, with its input, its output and its exit code', async () => {
    const { runtime, create } = await open()
    const id = await create('contract-exec', 'sleep 1000')
    await runtime.startContainer(id)
    const { output, findExitCode } = await runtime.streams.exec(id, {
      command: ['sh', '-c', 'echo out; echo err >&2; exit 4'],
    })
    expect((await textOf(output)).split('\n').sort()).toEqual(['', 'err', 'out'])
    expect(await findExitCode()).toBe(4)
    async function* input(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('to and ')
      yield Buffer.from('fro')
    }
    const cat = await runtime.streams.exec(id, { command: ['cat'], input: input() })
    expect(await textOf(cat.output)).toBe('to and fro')
    expect(await cat.findExitCode()).toBe(0)
  })

  test('a program in a terminal has its size, one output and what is typed', async () => {
    const { runtime, create, settle } = await open()
    const id = await create('contract-terminal', 'sleep 1000')
    await runtime.startContainer(id)
    let shown = ''
    async function* typed(): AsyncGenerator<Uint8Array> {
      // The size arrives on a way of its own.
      while (!shown.includes('40 100')) {
        yield Buffer.from('stty size\n')
        await settle()
      }
      yield Buffer.from('echo problem >&2\nexit 6\n')
    }
    const shell = await runtime.streams.exec(id, { command: ['sh'], input: typed(), terminal: true })
    await shell.resize({ width: 100, height: 40 })
    for await (const { stream, bytes } of shell.output) {
      expect(stream).toBe('stdout')
      shown += Buffer.from(bytes).toString()
    }
    expect(shown).toMatch(/^problem\r?$/m)
    expect(await shell.findExitCode()).toBe(6)
    await shell.resize({ width: 80, height: 24 })
  })

  test('events name the container and its labels; a log is followed until the container ends', async () => {
    const { runtime, create, now, settle } = await open()
    const stopping = new AbortController()
    const seen: RuntimeEvent[] = []
    let opened: () => void = () => undefined
    const isOpen = new Promise<void>((resolve) => {
      opened = resolve
    })
    const reading = (async () => {
      for await (const event of runtime.streams.events({
        signal: stopping.signal,
        sinceMs: now() - 1000,
        onOpen: opened,
      })) {
        if (event.labels['contract'] === 'events') seen.push(event)
        if (seen.some(({ action }) => /die|died/.test(action))) stopping.abort()
      }
    })()
    await isOpen
    const id = await create('contract-events', 'echo one; sleep 0.5; echo two', { labels: { contract: 'events' } })
    await runtime.startContainer(id)
    const following = textOf(runtime.streams.logs(id, { follow: true }))
    while (!stopping.signal.aborted) await settle()
    expect(await following).toBe('one\ntwo\n')
    await reading.catch(() => undefined)
    expect(seen.map(({ action }) => action)).toContain('start')
    expect(seen[0]?.containerId).toBe(id)
  })
}

/** Networks and volumes. */
function testAttachments(open: Open): void {
  test('networks and volumes are made once, listed by labels, not removed while in use, and removed twice without an error', async () => {
    const { runtime, create } = await open()
    await runtime.createNetwork({ name: 'contract-net', labels: { contract: 'net' }, internal: false, ipv6: false })
    await expect(
      runtime.createNetwork({ name: 'contract-net', labels: {}, internal: false, ipv6: false }),
    ).rejects.toMatchObject({ code: 'Conflict' })
    const [network] = await runtime.listNetworks({ contract: 'net' })
    expect(network).toMatchObject({ name: 'contract-net', driver: 'bridge' })
    expect(network?.subnets[0]).toMatch(/^10\.|^172\.|^192\./)
    await runtime.createVolume({ name: 'contract-vol', labels: { contract: 'vol' } })
    expect(await runtime.listVolumes({ contract: 'vol' })).toMatchObject([{ name: 'contract-vol', driver: 'local' }])
    const id = await create('contract-attached', 'sleep 1000', {
      networks: [{ name: 'contract-net', aliases: ['www'] }],
      mounts: [{ type: 'volume', source: 'contract-vol', target: '/data', readOnly: false }],
    })
    await expect(runtime.removeVolume('contract-vol')).rejects.toMatchObject({ code: 'Conflict' })
    expect((await runtime.findContainer(id))?.networks.map((one) => one.name)).toEqual(['contract-net'])
    await runtime.removeContainer(id)
    for (let time = 0; time < 2; time++) {
      await runtime.removeNetwork('contract-net')
      await runtime.removeVolume('contract-vol')
    }
    expect(await runtime.findNetwork('contract-net')).toBeUndefined()
    expect(await runtime.findVolume('contract-vol')).toBeUndefined()
  })
}

export function testRuntime(name: string, make: () => Promise<ContractTarget>): void {
  const { open, names } = openerOf(make)
  describe(`the contract of a container runtime: ${name}`, () => {
    afterAll(async () => {
      const { runtime } = await open()
      for (const container of names) await runtime.removeContainer(container)
    })
    testContainers(open)
    testStreams(open)
    testAttachments(open)
  })
}
