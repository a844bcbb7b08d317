import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  abortable,
  acceptLightSignals,
  anySignal,
  LightAbortController,
  nativeSignal,
  onAbort,
  signalFor,
} from './abort.ts'

const reason = new Error('enough')

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a Stopper', () => {
  test('aborts once, with the first reason, and calls everybody in the order in which they came', () => {
    const stopper = new LightAbortController()
    const called: string[] = []
    onAbort(stopper.signal, (why) => {
      called.push(`a ${String(why === reason)}`)
    })
    stopper.signal.addEventListener('abort', (event: Event) => {
      called.push(`b ${event.type}`)
    })
    stopper.signal.addEventListener('abort', {
      handleEvent: () => {
        called.push('c')
      },
    })
    stopper.abort(reason)
    stopper.abort(new Error('again'))
    expect([called, stopper.signal.aborted, stopper.signal.reason]).toEqual([['a true', 'b abort', 'c'], true, reason])
    expect(() => {
      stopper.signal.throwIfAborted()
    }).toThrow(reason)
  })

  test('without a reason it has the one that Node has', () => {
    const [stopper, controller] = [new LightAbortController(), new AbortController()]
    stopper.abort()
    controller.abort()
    const { name, message } = controller.signal.reason as DOMException
    expect(stopper.signal.reason).toBeInstanceOf(DOMException)
    expect(stopper.signal.reason).toMatchObject({ name, message })
  })

  test('the same function waits twice by onAbort, and once as a listener', () => {
    const stopper = new LightAbortController()
    const [waiting, listening] = [vi.fn(), vi.fn()]
    onAbort(stopper.signal, waiting)
    onAbort(stopper.signal, waiting)
    for (let index = 0; index < 2; index++) stopper.signal.addEventListener('abort', listening)
    stopper.abort(reason)
    expect([waiting.mock.calls.length, listening.mock.calls.length]).toEqual([2, 1])
  })

  test.each([[0], [1], [2]])('whoever stops listening is not called: number %i of three', (index) => {
    const stopper = new LightAbortController()
    const called: number[] = []
    const stops = [0, 1, 2].map((number) =>
      onAbort(stopper.signal, () => {
        called.push(number)
      }),
    )
    stops[index]?.()
    stops[index]?.()
    stopper.abort(reason)
    expect(called).toEqual([0, 1, 2].filter((number) => number !== index))
  })

  test('a listener can be taken away again', () => {
    const stopper = new LightAbortController()
    const listener = vi.fn()
    stopper.signal.addEventListener('abort', listener)
    stopper.signal.removeEventListener('abort', listener)
    stopper.signal.removeEventListener('abort', listener)
    stopper.signal.addEventListener('other', listener)
    stopper.abort(reason)
    expect(listener).not.toHaveBeenCalled()
  })

  test('who leaves while it aborts is not called, and nobody is added to what is over', () => {
    const stopper = new LightAbortController()
    const late = vi.fn()
    onAbort(stopper.signal, () => {
      stop()
      stopper.signal.addEventListener('abort', late)
    })
    const stop = onAbort(stopper.signal, late)
    stopper.abort(reason)
    expect(late).not.toHaveBeenCalled()
  })

  test('what a listener throws keeps nobody from being called, and is not lost', () => {
    const thrown: unknown[] = []
    vi.spyOn(process, 'nextTick').mockImplementation((run) => {
      try {
        ;(run as () => void)()
      } catch (error) {
        thrown.push(error)
      }
    })
    const stopper = new LightAbortController()
    const called = vi.fn()
    onAbort(stopper.signal, () => {
      throw reason
    })
    onAbort(stopper.signal, called)
    stopper.abort(new Error('stop'))
    expect([thrown, called.mock.calls.length]).toEqual([[reason], 1])
  })

  test('onabort is called after the listeners', () => {
    const stopper = new LightAbortController()
    const called: string[] = []
    stopper.signal.onabort = () => {
      called.push('onabort')
    }
    onAbort(stopper.signal, () => {
      called.push('listener')
    })
    stopper.abort(reason)
    expect(called).toEqual(['listener', 'onabort'])
  })

  test('abortable gives its reason', async () => {
    const stopper = new LightAbortController()
    const waiting = abortable(new Promise(() => undefined), { signal: stopper.signal })
    stopper.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('firstOf', () => {
  test.each([
    ['ours', 0],
    ["Node's", 1],
  ])('aborts with the one that is %s', (_, index) => {
    const both = [new LightAbortController(), new AbortController()] as const
    const signal = anySignal(...both.map((one) => one.signal as AbortSignal))
    expect([signal instanceof AbortSignal, signal.aborted]).toEqual([true, false])
    both[index]?.abort(reason)
    expect([signal.aborted, signal.reason]).toEqual([true, reason])
  })
})

describe('forOthers', () => {
  test("is Node's own, always the same, and aborts with ours", () => {
    const stopper = new LightAbortController()
    const signal = nativeSignal(stopper.signal)
    expect([signal instanceof AbortSignal, nativeSignal(stopper.signal) === signal, signal.aborted]).toEqual([
      true,
      true,
      false,
    ])
    stopper.abort(reason)
    expect([signal.aborted, signal.reason]).toEqual([true, reason])
  })

  test('of what has aborted has aborted', () => {
    const stopper = new LightAbortController()
    stopper.abort(reason)
    expect(nativeSignal(stopper.signal)).toMatchObject({ aborted: true, reason })
  })

  test("leaves Node's own as they are", () => {
    const { signal } = new AbortController()
    expect(nativeSignal(signal)).toBe(signal)
  })

  test('is what takes only its own kind', async () => {
    const stopper = new LightAbortController()
    const waiting = wait(1e6, undefined, { signal: AbortSignal.any([nativeSignal(stopper.signal)]) })
    stopper.abort(reason)
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError', cause: reason })
  })
})

test("signalFor gives a light signal to marked targets and to wrappers of them, the platform's to all others", () => {
  const { signal } = new LightAbortController()
  const ours = acceptLightSignals(() => undefined)
  const theirs = (): void => undefined
  expect(signalFor(ours, signal)).toBe(signal)
  expect(signalFor(theirs, signal)).toBe(signal.native)
  expect(
    signalFor(
      acceptLightSignals(() => undefined, { like: ours }),
      signal,
    ),
  ).toBe(signal)
  expect(
    signalFor(
      acceptLightSignals(() => undefined, { like: theirs }),
      signal,
    ),
  ).toBeInstanceOf(AbortSignal)
})
