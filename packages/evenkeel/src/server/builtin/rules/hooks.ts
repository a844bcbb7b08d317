/**
 * The part of {@link Rules} that is behaviour: what a file about a kind exports. Flags stand together in one table.
 */
import type { Rules } from '../../resources/resource.ts'
import type { Flags } from './flags.ts'

export type Hooks = Omit<Partial<Rules>, keyof Flags>
