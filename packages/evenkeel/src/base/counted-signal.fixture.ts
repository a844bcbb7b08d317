/**
 * A signal that counts who listens, so that a test can see whether everybody has stopped.
 */

interface CountedSignal {
  readonly controller: AbortController
  readonly signal: AbortSignal
  readonly listeners: () => number
}

export function countedSignal(): CountedSignal {
  const controller = new AbortController()
  const { signal } = controller
  const listening = new Set<unknown>()
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  signal.addEventListener = (type: 'abort', listener: () => void, options?: { once?: boolean }): void => {
    listening.add(listener)
    add(type, listener, options)
  }
  signal.removeEventListener = (type: 'abort', listener: () => void): void => {
    listening.delete(listener)
    remove(type, listener)
  }
  return { controller, signal, listeners: () => (signal.aborted ? 0 : listening.size) }
}
