/**
 * All tidy checks, for the test and for the command line.
 */
import { checkBans } from './bans.ts'
import { checkDeadExports } from './dead.ts'
import type { Finding, House } from './house.ts'
import { checkLayers } from './layers.ts'
import { checkMerges } from './merge.ts'
import { checkNames } from './names.ts'
import { checkPublic } from './public.ts'
import type { CheckName } from './samples.ts'
import { checkShape } from './shape.ts'
import { checkSizes } from './sizes.ts'
import { checkWalk } from './walk.ts'

/** Every check by name; `page` is the text of docs/walk.md. */
export const checks: Readonly<Record<CheckName, (house: House, page: string) => Finding[]>> = {
  layers: checkLayers,
  sizes: checkSizes,
  shape: checkShape,
  names: checkNames,
  merges: checkMerges,
  public: checkPublic,
  bans: checkBans,
  dead: checkDeadExports,
  walk: checkWalk,
}

/** One finding as a line that editors and terminals can follow. */
export function format({ path, line, message }: Finding): string {
  return `${path}:${line} ${message}`
}
