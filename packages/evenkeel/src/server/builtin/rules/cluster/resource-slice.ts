/**
 * ResourceSlices: kept by their schema; kubelets and drivers select theirs by node and driver.
 */
import type { StrategyHooks } from '../hooks.ts'
import { objectIn, textIn } from '../reading.ts'

export const resourceSliceStrategy: StrategyHooks = {
  selectableFields: {
    'spec.nodeName': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    'spec.driver': (object) => textIn(objectIn(object, 'spec'), 'driver'),
  },
}
