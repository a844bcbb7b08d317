/** The connections of one Service, without objects. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { joinConnections } from './connection-pair.ts'
import type { Connection } from './network.ts'
import { ServiceProxy } from './service-proxy.ts'
import { NamedServer, Peer } from './services.fixture.ts'
import { SimulatedNetwork } from './simulated-network.ts'

const at = { address: '127.0.0.1', port: 80 }

/** A proxy, a client that connects to it, and what it has noted. */
function world() {
  const [clock, network] = [new SimulatedClock(), new SimulatedNetwork()]
  const notes: string[] = []
  const proxy = new ServiceProxy({
    clock,
    network,
    onNote: ({ reason }) => notes.push(reason),
    onDrained: () => undefined,
  })
  network.serve(at, (connection) => {
    proxy.accept(connection)
  })
  return { clock, network, notes, proxy, connect: () => new Peer(network.connect(at)) }
}

describe('ServiceProxy', () => {
  test('W19: notes once that connections wait, and once that they are dropped, until one gets through', async () => {
    const { clock, network, notes, proxy, connect } = world()
    const endpoint = { address: '127.0.0.1', port: 81 }
    network.serve(endpoint, new NamedServer('a').accept)
    for (let round = 1; round <= 2; round++) {
      for (let count = 0; count < 5; count++) connect()
      await clock.advance(31_000)
      expect(notes.splice(0)).toEqual(['ConnectionsWaiting', 'ConnectionsDropped'])
      connect()
      await clock.advance(1000)
      expect(notes).toEqual([])
      proxy.setEndpoints([endpoint])
      await clock.advance(1000)
      proxy.setEndpoints([])
    }
  })
})

describe('joinConnections', () => {
  test('a connection that is closed before its end resets the other one', async () => {
    const { clock, network } = world()
    const accepted: Connection[] = []
    network.serve(at, (connection) => accepted.push(connection))
    const [client, server] = [new Peer(network.connect(at)), new Peer(network.connect(at))]
    const [one, other] = accepted
    if (!one || !other) throw new Error('nothing was accepted')
    joinConnections(one, other)
    server.send('half of the answer')
    await clock.advance(1)
    expect(client.received).toBe('half of the answer')
    other.destroy()
    await clock.advance(1)
    expect(client.error).toBe('ECONNRESET')
  })
})
