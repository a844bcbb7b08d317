import { afterEach, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { methods } from './client.ts'
import { EtcdConnection } from './connection.ts'
import { eventually } from './etcd-server.fixture.ts'
import { FakeEtcd, type FakeHandler } from './fake-etcd.fixture.ts'
import { ProtobufWriter } from './protobuf.ts'

const pingMs = 6_000
let fake: FakeEtcd | undefined
let connection: EtcdConnection | undefined

async function open(
  clock: SimulatedClock,
  { pingTimeoutMs = 1e12, onCall = () => undefined }: { pingTimeoutMs?: number; onCall?: FakeHandler } = {},
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
  await eventually('no timer is left', () => clock.pending === 0)
})

test('EtcdConnection names the endpoint and the cause when it cannot connect', async () => {
  const timeouts = { connectMs: 1_000, requestMs: 1, pingMs, pingTimeoutMs: 1 }
  const opening = EtcdConnection.open('http://127.0.0.1:1', { clock: new SimulatedClock(), tls: {}, ...timeouts })
  await expect(opening).rejects.toMatchObject({
    message: 'cannot connect to http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
    code: 'Unavailable',
    isUncertain: false,
    cause: { code: 'ECONNREFUSED' },
  })
})

test('EtcdConnection ends a stream with the reason of its signal', async () => {
  const { connection: own } = await open(new SimulatedClock())
  const stop = new AbortController()
  const messages = own.stream(methods.watch, new ProtobufWriter(), { signal: stop.signal })[Symbol.asyncIterator]()
  const next = messages.next()
  stop.abort(new Error('enough'))
  await expect(next).rejects.toThrow('enough')
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

test('EtcdConnection leaves no timer after its last call', async () => {
  const clock = new SimulatedClock()
  const { connection: own } = await open(clock)
  const stop = new AbortController()
  const call = own.unary(methods.range, new ProtobufWriter(), { signal: stop.signal }).catch((error: unknown) => error)
  expect(clock.pending).toBe(2)
  stop.abort(new Error('enough'))
  await call
  await eventually('no timer is left', () => clock.pending === 0)
})

test('EtcdConnection ends a stream with the refusal of the server', async () => {
  const { connection: own } = await open(new SimulatedClock(), {
    onCall: (_, __, send) => {
      send({ code: 7, text: 'not you' })
    },
  })
  const messages = own.stream(methods.watch, new ProtobufWriter())[Symbol.asyncIterator]()
  await expect(messages.next()).rejects.toMatchObject({ code: 'PermissionDenied', message: 'not you' })
})

test('EtcdConnection sends nothing on a stream after it was closed', async () => {
  const [received, first] = [[] as string[], deferred<void>()]
  const { fake: server, connection: own } = await open(new SimulatedClock(), {
    onCall: (_, message) => {
      received.push(Buffer.from(message).toString('latin1').slice(2))
      first.resolve()
    },
  })
  const stream = own.stream(methods.watch, new ProtobufWriter().text(1, 'first'))
  await first.promise
  stream.send(new ProtobufWriter().text(1, 'second'))
  stream.close()
  stream.send(new ProtobufWriter().text(1, 'third'))
  await eventually('the stream is closed', () => server.open === 0)
  expect(received).toEqual(['first', 'second'])
})
