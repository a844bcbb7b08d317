/**
 * What programs load when they first need it, loaded before a simulated world begins.
 *
 * Reading a module takes turns of the machine, and simulated time does not wait for the machine: the first schedule would
 * go another way than all others.
 */
import { loadClaimsEngine } from '#api'

let loading: Promise<unknown> | undefined

export async function preloadModules(): Promise<void> {
  await (loading ??= Promise.all([loadClaimsEngine(), import('re2js')]))
}
