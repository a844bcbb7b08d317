import { describe, expect, test } from 'vitest'
import { Ports } from './ports.ts'
import type { PortHolder } from './process-host.ts'

/** A machine on which these ports are taken. Every answer takes a turn, so that requests overlap. */
function machine(...taken: readonly number[]) {
  const holders = new Map(taken.map((port): [number, PortHolder] => [port, { port, pid: 7, command: 'nginx' }]))
  const findPortHolders = async (ports: readonly number[]): Promise<readonly PortHolder[]> => {
    await Promise.resolve()
    return ports.flatMap((port) => holders.get(port) ?? [])
  }
  return { holders, host: { findPortHolders } }
}

const any = [{ name: 'http', port: 0 }]
const portOf = (result: Awaited<ReturnType<Ports['allocate']>>): number | undefined =>
  'ports' in result ? result.ports[0]?.port : undefined

describe('Ports', () => {
  test('W16: 500 processes at once get distinct ports, none of them taken, none in the ephemeral range', async () => {
    const ports = new Ports({ host: machine(10_000, 10_003, 10_250).host })
    const results = await Promise.all(Array.from({ length: 500 }, (_, index) => ports.allocate(`uid-${index}`, any)))
    const chosen = results.map(portOf)
    expect(new Set(chosen).size).toBe(500)
    expect(chosen.filter((port) => port === undefined || port < 10_000 || port >= 32_768)).toEqual([])
    expect(chosen).not.toContain(10_000)
    expect(chosen).not.toContain(10_003)
    expect(chosen).not.toContain(10_250)
  })

  test('a port stays the same over restarts, and moves when another program listens on it', async () => {
    const { host, holders } = machine()
    const ports = new Ports({ host })
    const first = portOf(await ports.allocate('a', any))
    expect(portOf(await ports.allocate('a', any))).toBe(first)
    holders.set(first ?? 0, { port: first ?? 0, pid: 9 })
    expect(portOf(await ports.allocate('a', any))).not.toBe(first)
  })

  test('W17: a fixed port that is taken is reported with its holder; freed, it is given', async () => {
    const { host, holders } = machine(8080)
    const ports = new Ports({ host })
    const fixed = [{ name: 'http', port: 8080 }]
    expect(await ports.allocate('a', fixed)).toEqual({ taken: { port: 8080, pid: 7, command: 'nginx' } })
    holders.clear()
    expect(await ports.allocate('a', fixed)).toEqual({ ports: [{ name: 'http', port: 8080 }] })
  })

  test('two objects with one fixed port: the second is refused until the first is gone', async () => {
    const ports = new Ports({ host: machine().host })
    const fixed = [{ name: 'http', port: 8080 }]
    await ports.allocate('a', fixed)
    expect(await ports.allocate('b', fixed)).toEqual({ reservedBy: 'a', port: 8080 })
    ports.release('a')
    expect(portOf(await ports.allocate('b', fixed))).toBe(8080)
  })

  test('ports in a status are kept by another Evenkeel', async () => {
    const ports = new Ports({ host: machine().host })
    ports.adopt('a', [{ name: 'http', port: 10_000 }])
    expect(portOf(await ports.allocate('b', any))).toBe(10_001)
    expect(portOf(await ports.allocate('a', any))).toBe(10_000)
  })

  test('a range without a free port is an error that says what to do', async () => {
    const ports = new Ports({ host: machine(5000).host, range: [5000, 5000] })
    await expect(ports.allocate('a', any)).rejects.toThrow('no port from 5000 to 5000 is free: end a process')
  })
})
