/**
 * The part of {@link ResourceStrategy} that is behaviour: what a file about a kind exports. Flags stand together in one table.
 */
import type { ResourceStrategy } from '../../resources/resource.ts'
import type { StrategyFlags } from './flags.ts'

export type StrategyHooks = Omit<Partial<ResourceStrategy>, keyof StrategyFlags>
