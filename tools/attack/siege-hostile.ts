/**
 * Hostile clients: a process of its own. Each client sends shapes of the catalogue, one after the other, as its own user
 * and in an order of its own seed. It answers an order with the number of attacks.
 */
import { setMaxListeners } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom, type Random } from 'evenkeel/unstable/base'
import { pick } from './mutations.ts'
import { hostileTokens } from './fixtures.ts'
import { isDocumentShape, type AttackAddress, type Shape } from './shape.ts'
import { shapes } from './shapes.ts'
import { sendRequest } from './target.ts'

interface Order {
  readonly forMs: number
  readonly clients: number
  readonly seed: string
}

const shapeMs = 20_000
const address = JSON.parse(process.argv[2] ?? '{}') as AttackAddress

// Attackers are elsewhere: what they compute must not slow the polite clients down.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

async function attack({ forMs, clients, seed }: Order): Promise<{ attacks: number }> {
  const untilMs = performance.now() + forMs
  const counts = await Promise.all(
    Array.from({ length: clients }, (_, index) => hostileClient(index, { untilMs, seed: `${seed} ${index}` })),
  )
  return { attacks: counts.reduce((sum, count) => sum + count, 0) }
}

async function hostileClient(index: number, { untilMs, seed }: { untilMs: number; seed: string }): Promise<number> {
  const random = new SeededRandom(seed)
  const mallory = hostileTokens[index % hostileTokens.length] ?? address.tokens.mallory
  const own = { ...address, tokens: { ...address.tokens, mallory } }
  let attacks = 0
  while (performance.now() < untilMs) {
    const shape = pick(shapes, random)
    const leftMs = Math.ceil(Math.max(1, Math.min(shapeMs, untilMs - performance.now())))
    const signal = AbortSignal.timeout(leftMs)
    setMaxListeners(0, signal)
    await once(shape, own, { random, signal }).then(
      () => attacks++,
      () => sleep(50),
    )
  }
  return attacks
}

async function once(
  shape: Shape,
  own: AttackAddress,
  { random, signal }: { random: Random; signal: AbortSignal },
): Promise<void> {
  if (!isDocumentShape(shape)) {
    await shape.run(own, shape.n, signal)
    return
  }
  for (const request of shape.before?.(shape.n) ?? []) await sendRequest(own, request, signal)
  const request = shape.make(shape.n, random)
  // An administrator is no attacker.
  if (request.user !== 'admin') await sendRequest(own, request, signal)
}

process.on('message', (order: Order) => {
  void attack(order).then((answer) => process.send?.(answer))
})
process.on('disconnect', () => {
  process.exit(0)
})
