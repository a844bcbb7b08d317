import { Socket } from 'node:net'
import { assert, describe, expect, test } from 'vitest'
import { ConnectionLimiter, type AdmittedConnection } from './connection-limiter.ts'

describe('row 18: one user keeps half of the connections', () => {
  const few = { connectionsMax: 4, connectionsPerAddressMax: 4, unreadBytesMax: 400, unreadBytesPerConnectionMax: 80 }
  const connect = (limiter: ConnectionLimiter, user?: string): Socket | undefined => {
    const socket = new Socket()
    const admitted = limiter.admit(socket)
    if (user !== undefined) admitted?.identify(user)
    return admitted && socket
  }

  test.each([few, { ...few, connectionsPerAddressMax: 100 }])(
    'and gives way with the others, oldest first: %o',
    (limits) => {
      const limiter = new ConnectionLimiter(limits)
      const ada = ['ada', 'ada', 'ada', 'ada'].map((user) => connect(limiter, user))
      const others = ['bob', 'eve'].map((user) => connect(limiter, user))
      expect(ada.map((socket) => socket?.destroyed)).toEqual([false, false, true, true])
      expect(others.map((socket) => socket?.destroyed)).toEqual([false, false])
    },
  )

  test('and none of them while there is room, or an unknown one to close', () => {
    const limiter = new ConnectionLimiter(few)
    const unknown = connect(limiter)
    const ada = ['ada', 'ada', 'ada'].map((user) => connect(limiter, user))
    connect(limiter, 'bob')
    expect([unknown, ...ada].map((socket) => socket?.destroyed)).toEqual([true, false, false, false])
  })

  test('a connection of a user within the share is never closed for a new one', () => {
    const limiter = new ConnectionLimiter(few)
    const known = ['ada', 'ada', 'bob', 'bob'].map((user) => connect(limiter, user))
    expect(connect(limiter, 'eve')).toBeUndefined()
    expect(known.map((socket) => socket?.destroyed)).toEqual([false, false, false, false])
  })
})

describe('row 13: the unread bytes of one user are a quarter of all', () => {
  const limits = {
    connectionsMax: 10,
    connectionsPerAddressMax: 10,
    unreadBytesMax: 400,
    unreadBytesPerConnectionMax: 80,
  }

  const admit = (limiter: ConnectionLimiter): AdmittedConnection & { readonly socket: Socket } => {
    const socket = new Socket()
    return { socket, ...(limiter.admit(socket) ?? assert.fail('there is no room')) }
  }

  test('however many connections it has; others have theirs', () => {
    const limiter = new ConnectionLimiter(limits)
    const [one, two, other, stranger] = [admit(limiter), admit(limiter), admit(limiter), admit(limiter)]
    one.identify('ada')
    two.identify('ada')
    other.identify('bob')
    expect([one.held.add(80), two.held.add(21), two.held.add(20)]).toEqual([true, false, true])
    expect([other.held.add(80), stranger.held.add(80)]).toEqual([true, true])
    one.held.remove(50)
    expect(two.held.add(50)).toBe(true)
  })

  test('what a connection held before it was known counts, and ends it when there is no room', () => {
    const limiter = new ConnectionLimiter(limits)
    const [one, two, other] = [admit(limiter), admit(limiter), admit(limiter)]
    for (const { held } of [one, two, other]) held.add(80)
    one.identify('ada')
    two.identify('ada')
    other.identify('bob')
    expect([one, two, other].map(({ socket }) => socket.destroyed)).toEqual([false, true, false])
  })
})
