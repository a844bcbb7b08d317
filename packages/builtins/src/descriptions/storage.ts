/**
 * Descriptions of storage.k8s.io/v1.
 */
export const storageV1 = `
CSIDriver: A CSI driver that is installed in the cluster, and how it wants to be used. Its name is that of the driver.
  spec: How the driver wants to be used.
CSIDriverSpec: How a CSI driver wants to be used.
  attachRequired: Whether volumes must be attached to a Node before they are mounted. The default is true. It cannot be changed.
  fsGroupPolicy: Whether fsGroup of Pods changes the owner of files: ReadWriteOnceWithFSType for volumes with a file system and the access mode ReadWriteOnce, File for all, None for no volume. The default is ReadWriteOnceWithFSType.
  nodeAllocatableUpdatePeriodSeconds: Seconds between updates of how many volumes a Node can have; at least 10. Absent means that the number stays as it is.
  podInfoOnMount: Passes the name, namespace, uid and service account of the Pod to the driver when it mounts a volume. The default is false.
  preventPodSchedulingIfMissing: Keeps Pods with volumes of the driver away from Nodes on which the driver is not installed. The default is false.
  requiresRepublish: Calls the driver again from time to time to update mounted volumes, such as renewed tokens. The default is false.
  seLinuxMount: Whether volumes can be mounted with an SELinux label as an option. The default is false.
  serviceAccountTokenInSecrets: Passes tokens of service accounts as secrets of the call, not among the attributes of the volume. It needs tokenRequests. The default is false.
  storageCapacity: Whether the scheduler looks at the free capacity that the driver publishes as CSIStorageCapacity. The default is false.
  tokenRequests: Tokens of the service account of the Pod that the driver needs. Each has another audience.
  volumeLifecycleModes: Persistent for volumes with a claim, Ephemeral for volumes in the spec of a Pod. The default is Persistent. It cannot be changed.
CSINode: The CSI drivers on one Node. Its name is that of the Node. The kubelet writes it.
  spec: The drivers on the Node.
CSINodeDriver: A CSI driver on a Node.
  allocatable: How many volumes of the driver the Node can have.
  name: The name of the driver.
  nodeID: The name of the Node for the driver, which may differ from that in the cluster.
  topologyKeys: The labels of Nodes that the driver uses to say where volumes can be reached.
CSINodeSpec: The CSI drivers on one Node.
  drivers: The drivers. Empty when there are none.
CSIStorageCapacity: How much storage of a class is free for some Nodes. The scheduler places Pods by it.
  capacity: The free storage. Absent means unknown, which counts as none.
  maximumVolumeSize: The largest volume that can be made. The scheduler compares it with claims before it looks at capacity.
  nodeTopology: The Nodes that can reach the storage. Empty means all, absent means none. It cannot be changed.
  storageClassName: The StorageClass. It cannot be changed.
StorageClass: A class of storage, from which volumes are made on demand. Most of it cannot be changed.
  allowVolumeExpansion: Whether claims may be made larger. The default is false.
  allowedTopologies: Where volumes may be made, by labels of Nodes. Empty means everywhere.
  mountOptions: Options for mounting the volumes. A wrong one lets the mount fail.
  parameters: Parameters for the provisioner.
  provisioner: The driver that makes the volumes.
  reclaimPolicy [Delete|Recycle|Retain]: What happens to volumes of the class when their claim is gone. The default is Delete.
  volumeBindingMode [Immediate|WaitForFirstConsumer]: Immediate makes and binds a volume at once; WaitForFirstConsumer waits for a Pod, so that the volume is made where the Pod runs. The default is Immediate.
TokenRequest: A token that a CSI driver needs.
  audience: Who the token is for. The default is the API server.
  expirationSeconds: The lifetime of the token. The default is that of TokenRequest.
VolumeAttachment: Attaches a volume to a Node. The attach-detach controller creates it, and the driver acts on it.
  spec: The volume and the Node. It cannot be changed.
  status: Whether the volume is attached, written by the driver.
VolumeAttachmentSource: The volume. One of the fields is set.
  inlineVolumeSpec: A volume from the spec of a Pod that is served by CSI, written as a PersistentVolume.
  persistentVolumeName: The name of a PersistentVolume.
VolumeAttachmentSpec: What is attached to which Node.
  attacher: The driver that must act.
  nodeName: The Node that the volume is attached to.
  source: The volume to attach.
VolumeAttachmentStatus: What became of an attachment. The driver writes it.
  attachError: The last error of attaching.
  attached: Whether the volume is attached.
  attachmentMetadata: Facts from attaching that mounting needs.
  detachError: The last error of detaching.
VolumeAttributesClass: Settings of volumes that can be changed later, such as speed. It cannot be changed itself.
  driverName: The CSI driver that the settings are for.
  parameters: The settings, as the driver defines them; at least one. To change a volume, name another class in its claim.
VolumeError: An error of attaching or detaching.
  errorCode: The gRPC code of the error.
  message: The error, for people. It should not contain secrets.
  time: When the error happened.
VolumeNodeResources: How many volumes of a driver a Node can have.
  count: The number of volumes. Absent means no limit.
`
