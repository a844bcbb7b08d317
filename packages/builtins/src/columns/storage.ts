/**
 * Columns of storage kinds.
 */
import {
  ageColumn,
  booleanColumn,
  column,
  columnsOf,
  formatQuantityCell,
  identifyingColumn,
  integerColumn,
  nameColumn,
  wideColumn,
  type Column,
  type FieldReader,
  type TableColumns,
} from './column.ts'

const volumeMode = wideColumn(
  column('VolumeMode', 'The volume mode.', (o) => o.optionalText('spec', 'volumeMode') ?? '<unset>'),
)
const attributesClass = column(
  'VolumeAttributesClass',
  'The VolumeAttributesClass.',
  (o) => o.optionalText('spec', 'volumeAttributesClassName') ?? '<unset>',
)
const volumeStatus = column('Status', 'The phase.', (o) =>
  o.has('metadata', 'deletionTimestamp') ? 'Terminating' : o.text('status', 'phase'),
)
const volumeClass = column(
  'StorageClass',
  'The StorageClass.',
  (o) => o.optionalText('metadata', 'annotations', classAnnotation) ?? o.text('spec', 'storageClassName'),
)
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

export const storageColumns: Readonly<Record<string, TableColumns>> = {
  PersistentVolume: columnsOf(
    nameColumn,
    column('Capacity', 'The capacity.', (o) => capacity(o.at('spec', 'capacity'))),
    column('Access Modes', 'The access modes.', (o) => accessModes(o.texts('spec', 'accessModes'))),
    column('Reclaim Policy', 'The reclaim policy.', (o) => o.text('spec', 'persistentVolumeReclaimPolicy')),
    volumeStatus,
    column('Claim', 'The bound claim.', claim),
    volumeClass,
    attributesClass,
    column('Reason', 'The reason of the current phase.', (o) => o.text('status', 'reason')),
    ageColumn,
    volumeMode,
  ),
  PersistentVolumeClaim: columnsOf(
    nameColumn,
    volumeStatus,
    column('Volume', 'The bound volume.', (o) => o.text('spec', 'volumeName')),
    column('Capacity', 'The capacity of the volume.', (o) => (isBound(o) ? capacity(o.at('status', 'capacity')) : '')),
    column('Access Modes', 'The access modes of the volume.', (o) =>
      isBound(o) ? accessModes(o.texts('status', 'accessModes')) : '',
    ),
    volumeClass,
    attributesClass,
    ageColumn,
    volumeMode,
  ),
  'StorageClass.storage.k8s.io': columnsOf(
    { ...nameColumn, cell: (o) => o.text('metadata', 'name') + (isDefaultClass(o) ? ' (default)' : '') },
    column('Provisioner', 'The provisioner of this class.', (o) => o.text('provisioner')),
    column('ReclaimPolicy', 'The reclaim policy of its volumes.', (o) => o.optionalText('reclaimPolicy') ?? 'Delete'),
    column('VolumeBindingMode', 'The volume binding mode.', (o) => o.optionalText('volumeBindingMode') ?? 'Immediate'),
    column('AllowVolumeExpansion', 'Whether volumes can be expanded.', (o) => o.flag('allowVolumeExpansion')),
    ageColumn,
  ),
  'VolumeAttributesClass.storage.k8s.io': columnsOf(
    nameColumn,
    column('DriverName', 'The driver of these attributes.', (o) => o.text('driverName')),
    ageColumn,
  ),
  'VolumeAttachment.storage.k8s.io': columnsOf(
    nameColumn,
    identifyingColumn(column('Attacher', 'The attacher.', (o) => o.text('spec', 'attacher'))),
    column('PV', 'The PersistentVolume.', (o) => o.text('spec', 'source', 'persistentVolumeName')),
    column('Node', 'The Node of the attachment.', (o) => o.text('spec', 'nodeName')),
    booleanColumn('Attached', 'Whether the volume is attached.', (o) => o.flag('status', 'attached')),
    ageColumn,
  ),
  'CSINode.storage.k8s.io': columnsOf(
    nameColumn,
    integerColumn('Drivers', 'The number of drivers on the Node.', (o) => o.size('spec', 'drivers')),
    ageColumn,
  ),
  'CSIDriver.storage.k8s.io': columnsOf(
    nameColumn,
    booleanColumn(
      'AttachRequired',
      'Whether volumes must be attached before a mount.',
      (o) => !o.has('spec', 'attachRequired') || o.flag('spec', 'attachRequired'),
    ),
    driverFlag('PodInfoOnMount', 'Whether the driver gets Pod information on mount.'),
    driverFlag('StorageCapacity', 'Whether the driver publishes its storage capacity.'),
    column('TokenRequests', 'The audiences of requested tokens.', tokenRequests),
    driverFlag('RequiresRepublish', 'Whether volumes are republished periodically.'),
    column(
      'Modes',
      'The volume lifecycle modes.',
      (o) => o.texts('spec', 'volumeLifecycleModes').join(',') || '<none>',
    ),
    ageColumn,
  ),
  'CSIStorageCapacity.storage.k8s.io': columnsOf(
    nameColumn,
    column('StorageClassName', 'The StorageClass.', (o) => o.text('storageClassName')),
    column('Capacity', 'The available capacity.', (o) =>
      o.has('capacity') ? formatQuantityCell(o.at('capacity')) : '<unset>',
    ),
  ),
}

function driverFlag(title: string, description: string): Column {
  const field = title.charAt(0).toLowerCase() + title.slice(1)
  return booleanColumn(title, description, (o) => o.flag('spec', field))
}

function capacity(resources: FieldReader): string {
  return resources.has('storage') ? formatQuantityCell(resources.at('storage')) : '0'
}

function accessModes(modes: readonly string[]): string {
  return [...shortModes]
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

const shortModes = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
])

function claim(volume: FieldReader): string {
  const reference = volume.at('spec', 'claimRef')
  return reference.has() ? `${reference.text('namespace')}/${reference.text('name')}` : ''
}

function isBound(volumeClaim: FieldReader): boolean {
  return volumeClaim.text('spec', 'volumeName') !== ''
}

function isDefaultClass(storageClass: FieldReader): boolean {
  const prefixes = ['storageclass.kubernetes.io', 'storageclass.beta.kubernetes.io']
  return prefixes.some(
    (prefix) => storageClass.text('metadata', 'annotations', `${prefix}/is-default-class`) === 'true',
  )
}

function tokenRequests(driver: FieldReader): string {
  if (!driver.has('spec', 'tokenRequests')) return '<unset>'
  return driver
    .list('spec', 'tokenRequests')
    .map((request) => request.text('audience'))
    .join(',')
}
