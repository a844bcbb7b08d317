import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { copyBytes, PortCalls, Transfer, type PortFunctions } from './port-calls.ts'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

function pair(functions: PortFunctions): PortCalls {
  const { port1, port2 } = new MessageChannel()
  open.push(() => {
    port1.close()
  })
  void new PortCalls(port1, { functions })
  return new PortCalls(port2, { functions: {} })
}

describe('PortCalls', () => {
  test('calls functions of the other side, also slow ones, each with its own answer', async () => {
    const calls = pair({ double: (n: number) => Promise.resolve(n * 2), add: (a: number, b: number) => a + b })
    expect(await Promise.all([calls.call('double', 4), calls.call('add', 1, 2)])).toEqual([8, 3])
  })

  test('rejects with the error of the other side', async () => {
    const calls = pair({
      fail: () => {
        throw new RangeError('too far')
      },
    })
    const error: Error = await calls.call('fail').then(
      () => new Error('no'),
      (reason: unknown) => reason as Error,
    )
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message).toBe('too far')
    expect(error.stack).toContain('port-calls.test.ts')
    await expect(calls.call('nothing')).rejects.toThrow('there is no function nothing')
  })

  test('a notice runs before a later call', async () => {
    const seen: string[] = []
    const calls = pair({ note: (text: string) => seen.push(text), seen: () => seen })
    calls.notify('note', 'a')
    calls.notify('unknown')
    expect(await calls.call('seen')).toEqual(['a'])
  })

  test('rejects what cannot be sent, and all calls once it is closed', async () => {
    const calls = pair({ wait: () => new Promise(() => undefined) })
    await expect(calls.call('wait', () => undefined)).rejects.toThrow('could not be cloned')
    const waiting = calls.call('wait')
    calls.close(new Error('over'))
    await expect(waiting).rejects.toThrow('over')
    await expect(calls.call('wait')).rejects.toThrow('over')
    calls.notify('wait')
  })
})

test('bytes of a Transfer move to the other side, in both directions', async () => {
  const calls = pair({
    sum: (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum + byte, 0),
    make: () => {
      const bytes = new Uint8Array([7, 8])
      return new Transfer({ bytes }, [bytes])
    },
  })
  const bytes = new Uint8Array([1, 2, 3])
  const sum = calls.call('sum', new Transfer(bytes, [bytes, bytes]))
  expect(bytes.byteLength).toBe(0)
  expect(await sum).toBe(6)
  expect(await calls.call('make')).toEqual({ bytes: new Uint8Array([7, 8]) })
})

test('copyBytes has memory of its own', () => {
  const whole = new Uint8Array([1, 2, 3, 4])
  const part = copyBytes(whole.subarray(1, 3))
  expect([...part]).toEqual([2, 3])
  expect(part.buffer.byteLength).toBe(2)
  // Small buffers of Node are views of a shared pool.
  expect(copyBytes(Buffer.from('ab')).buffer.byteLength).toBe(2)
})
