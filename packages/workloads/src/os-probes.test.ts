/** Probes of real servers and programs. */
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { nextTurn, SimulatedClock, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { describe, expect, onTestFinished, test } from 'vitest'
import { OsProbes } from './os-probes.ts'
import type { ProbeCheck, ProbeOutcome } from './prober.ts'
import { systemTable } from './process-table.ts'

const timeoutMs = 60_000
const probes = new OsProbes()
const clock = new SystemClock()

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections()
      }),
  )
  return (server.address() as AddressInfo).port
}

async function probeHttp(listener: RequestListener, given: Partial<ProbeCheck> = {}): Promise<ProbeOutcome> {
  const port = await listen(createServer(listener))
  const check = { type: 'http', url: `http://127.0.0.1:${port}/x`, headers: {}, isInsecure: false, timeoutMs } as const
  return probes.findHealth({ ...check, ...given } as ProbeCheck)
}

describe('a probe by HTTP', () => {
  test.each([
    [200, true],
    [204, true],
    [304, false],
    [404, false],
    [503, false],
  ])('W23: status %d: %s', async (status, isOk) => {
    const outcome = await probeHttp((_, response) => response.writeHead(status).end())
    expect(outcome).toEqual({ isOk, output: expect.stringContaining(` ${status}`) as string })
  })

  test('W23: follows a redirect on the same host, and sends its headers', async () => {
    const seen: (string | undefined)[] = []
    const outcome = await probeHttp(
      ({ url, headers }, response) => {
        seen.push(`${url} ${headers['x-probe'] as string}`)
        if (url === '/x') response.writeHead(302, { location: '/y' }).end()
        else response.end('fine')
      },
      { headers: { 'x-probe': '1' } } as Partial<ProbeCheck>,
    )
    expect([outcome.isOk, seen]).toEqual([true, ['/x 1', '/y 1']])
  })

  test('W23: refuses a redirect to another host, and a chain without an end', async () => {
    const away = await probeHttp((_, response) => response.writeHead(302, { location: 'http://localhost:1/y' }).end())
    expect(away).toEqual({
      isOk: false,
      output: expect.stringContaining('redirects to another host, localhost:1') as string,
    })
    let count = 0
    const chain = await probeHttp((_, response) => {
      count++
      response.writeHead(302, { location: '/y' }).end()
    })
    expect([chain.isOk, count]).toEqual([false, 6])
  })

  test('W23: reads at most 10 KiB of a body, and does not wait for the rest', async () => {
    const outcome = await probeHttp((_, response) => {
      response.write('y'.repeat(20_000))
    })
    expect(outcome.isOk).toBe(true)
    expect(outcome.output.length).toBeLessThan(10_400)
  })

  test('W23: a body that never ends is a failure at the timeout, and the connection is closed', async () => {
    const simulated = new SimulatedClock()
    const seen: string[] = []
    const port = await listen(
      createServer((request, response) => {
        response.write('slow')
        seen.push('request')
        request.socket.once('close', () => {
          seen.push('close')
        })
      }),
    )
    const outcome = new OsProbes({ clock: simulated }).findHealth({
      type: 'http',
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      isInsecure: false,
      timeoutMs: 1000,
    })
    while (!seen.includes('request')) await nextTurn(clock)
    await simulated.advance(1000)
    expect(await outcome).toEqual({ isOk: false, output: 'no result within 1000 ms' })
    while (!seen.includes('close')) await nextTurn(clock)
  })

  test('W23: a certificate of its own is accepted only if the probe says so', async () => {
    const options = { clock, random: new SystemRandom() }
    const { certificatePem, keyPem } = issueServerCertificate(makeAuthority(options), {
      ...options,
      names: ['127.0.0.1'],
    })
    const port = await listen(
      createSecureServer({ cert: certificatePem, key: keyPem }, (_, response) => response.end('x')),
    )
    const check = { type: 'http', url: `https://127.0.0.1:${port}/`, headers: {}, timeoutMs } as const
    expect((await probes.findHealth({ ...check, isInsecure: false })).isOk).toBe(false)
    expect((await probes.findHealth({ ...check, isInsecure: true })).isOk).toBe(true)
  })
})

describe('other probes', () => {
  test('W23: by TCP: a connection is enough', async () => {
    const port = await listen(createTcpServer((socket) => socket.destroy()))
    expect((await probes.findHealth({ type: 'tcp', port, timeoutMs })).isOk).toBe(true)
    const free = createTcpServer()
    const unused = await new Promise<number>((resolve) => {
      free.listen(0, '127.0.0.1', () => {
        const { port: number } = free.address() as AddressInfo
        free.close(() => {
          resolve(number)
        })
      })
    })
    expect(await probes.findHealth({ type: 'tcp', port: unused, timeoutMs })).toEqual({
      isOk: false,
      output: expect.stringContaining('ECONNREFUSED') as string,
    })
  })

  const program = (script: string, given = timeoutMs) =>
    ({
      type: 'exec',
      command: ['sh', '-c', script],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', WORD: 'hello' },
      timeoutMs: given,
    }) as const

  test('W23: by a program: its exit code and its output', async () => {
    expect(await probes.findHealth(program('echo $WORD'))).toEqual({ isOk: true, output: 'hello' })
    expect(await probes.findHealth(program('echo no >&2; exit 3'))).toEqual({
      isOk: false,
      output: 'no\n (exit code 3)',
    })
    expect((await probes.findHealth({ ...program(''), command: ['/no/such/program'] })).output).toContain('ENOENT')
  })

  test('W23: a program leaves no process, neither after its end nor at its timeout', async () => {
    const table = systemTable()
    const left = await probes.findHealth(program('sleep 1000 >/dev/null 2>&1 & echo $!'))
    expect(left.isOk).toBe(true)
    const simulated = new SimulatedClock()
    const hanging = new OsProbes({ clock: simulated }).findHealth(program('sleep 1000 & echo $! $$ ; wait', 1000))
    while (systemTable().find(Number(left.output))) await nextTurn(clock)
    // Its pids are in no output yet: the children of this process are.
    const ours = async (): Promise<number[]> =>
      (await table.list(0, () => nextTurn(clock)))
        .filter(({ parentPid, command }) => parentPid === process.pid && command.includes('sleep 1000'))
        .map(({ pid }) => pid)
    while ((await ours()).length === 0) await nextTurn(clock)
    await simulated.advance(1000)
    expect((await hanging).output).toBe('no result within 1000 ms')
    while ((await ours()).length > 0) await nextTurn(clock)
  })

  test('W23: a check ends with its run', async () => {
    const stopping = new AbortController()
    const outcome = probes.findHealth(program('sleep 1000'), { signal: stopping.signal })
    stopping.abort()
    expect(await outcome).toEqual({ isOk: false, output: 'the run is over' })
  })
})
