import { afterEach, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { methods } from './client.ts'
import { EtcdConnection } from './connection.ts'
import { eventually } from './etcd-server.fixture.ts'
import { FakeEtcd } from './fake-etcd.fixture.ts'
import { ProtobufWriter } from './protobuf.ts'

const pingMs = 6_000
let fake: FakeEtcd | undefined
let connection: EtcdConnection | undefined

async function open(
  clock: SimulatedClock,
  { pingTimeoutMs = 1e12, onCall = () => undefined }: { pingTimeoutMs?: number; onCall?: () => void } = {},
): Promise<{ fake: FakeEtcd; connection: EtcdConnection }> {
  fake = await FakeEtcd.start(onCall)
  const timeouts = { connectMs: 1_000, requestMs: 1e12, pingMs, pingTimeoutMs }
  connection = await EtcdConnection.open(fake.endpoint, { clock, tls: {}, ...timeouts })
  return { fake, connection }
}

afterEach(async () => {
  connection?.destroy('the test is over')
  await connection?.closed
  await fake?.stop()
})

test('EtcdConnection pings a silent server again and again while a call waits, and never without a call', async () => {
  const clock = new SimulatedClock()
  const { fake: server, connection: own } = await open(clock)
  await clock.advance(10 * pingMs)
  expect(server.pings).toBe(0)
  const stop = new AbortController()
  const call = own.unary(methods.range, new ProtobufWriter(), { signal: stop.signal }).catch((error: unknown) => error)
  await clock.advance(pingMs - 1)
  expect(server.pings).toBe(0)
  await clock.advance(1)
  await eventually('the first ping', () => server.pings === 1)
  await eventually('the third ping', async () => {
    await clock.advance(pingMs)
    return server.pings === 3
  })
  stop.abort(new Error('enough'))
  expect(await call).toMatchObject({ message: 'enough' })
})

test('EtcdConnection is gone when a ping is not answered in time', async () => {
  const clock = new SimulatedClock()
  const { connection: own } = await open(clock, { pingTimeoutMs: 0 })
  const call = own.unary(methods.range, new ProtobufWriter()).catch((error: unknown) => error)
  await clock.advance(pingMs)
  expect(await own.gone).toBe(`${own.endpoint} does not answer pings`)
  expect(await call).toMatchObject({ code: 'Unavailable', isUncertain: true })
})

test('EtcdConnection closes its socket after it is retired, and accepts no more calls', async () => {
  const { connection: own } = await open(new SimulatedClock())
  own.retire('another server took over')
  expect(await own.gone).toBe('another server took over')
  expect(await own.closed).toBeUndefined()
  await expect(own.unary(methods.range, new ProtobufWriter())).rejects.toMatchObject({
    message: `the connection to ${own.endpoint} is gone`,
    isUncertain: false,
  })
})

test('EtcdConnection fails a call with an uncertain outcome when its connection breaks', async () => {
  const received = deferred<undefined>()
  const onCall = (): void => {
    received.resolve(undefined)
  }
  const { fake: server, connection: own } = await open(new SimulatedClock(), { onCall })
  const call = own.unary(methods.range, new ProtobufWriter()).catch((error: unknown) => error)
  await received.promise
  await server.stop()
  fake = undefined
  expect(await call).toMatchObject({ name: 'RpcError', code: 'Unavailable', isUncertain: true })
  expect(await own.closed).toBeUndefined()
})
