/**
 * Lets everything run that waits on promises alone.
 *
 * One turn of the event loop does: microtasks are run to the end before it, in an order that depends on nothing
 * outside. The function is caught before anybody can replace it.
 */
const nextTurn = setImmediate

export function settle(): Promise<void> {
  return new Promise((resolve) => { nextTurn(resolve) })
}
