package localcloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/provider"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// handlers are the resource types with real parts behind them.
func (c *cloud) handlers() map[string]provider.Handler {
	h := map[string]provider.Handler{
		"aws:s3/bucketV2:BucketV2":                  bucket{c: c},
		"aws:s3/bucketObjectv2:BucketObjectv2":      object{c},
		"aws:ec2/vpc:Vpc":                           vpc{},
		"aws:ec2/subnet:Subnet":                     subnet{c: c},
		"aws:ec2/networkInterface:NetworkInterface": networkInterface{c: c},
		"aws:ec2/instance:Instance":                 instance{c: c},
		"aws:ebs/volume:Volume":                     volume{c: c},
		"aws:ec2/volumeAttachment:VolumeAttachment": attachment{c: c},
		"aws:ssm/parameter:Parameter":               parameter{c: c},
		"aws:emr/cluster:Cluster":                   cluster{c},
	}
	for _, k := range []string{"apps/v1:Deployment", "apps/v1:DaemonSet", "apps/v1:StatefulSet", "core/v1:ConfigMap", "core/v1:Secret", "core/v1:Service", "core/v1:PersistentVolumeClaim"} {
		h["kubernetes:"+k] = object8s{c, k[strings.Index(k, ":")+1:]}
	}
	return h
}

func text(m resource.PropertyMap, key string) string {
	v := m[resource.PropertyKey(key)]
	for v.IsSecret() {
		v = v.SecretValue().Element
	}
	if v.IsOutput() {
		v = v.OutputValue().Element
	}
	if v.IsString() {
		return v.StringValue()
	}
	return ""
}

type bucket struct {
	provider.Recording
	c *cloud
}

func (b bucket) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	name := text(r.Inputs, "bucket")
	if _, err := b.c.objects.Client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &name}); err != nil {
		return provider.Result{}, fmt.Errorf("create bucket %s: %w", name, err)
	}
	return res, nil
}

func (b bucket) Read(ctx context.Context, r provider.Request) (provider.Result, bool, error) {
	there, err := b.c.objects.Exists(ctx, r.ID, "")
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, there, err
}

func (b bucket) Delete(ctx context.Context, r provider.Request) error {
	if force := r.Outputs["forceDestroy"]; force.IsBool() && force.BoolValue() {
		if err := b.c.objects.Empty(ctx, r.ID); err != nil {
			return err
		}
	}
	if _, err := b.c.objects.Client.DeleteBucket(ctx, &awss3.DeleteBucketInput{Bucket: &r.ID}); err != nil {
		return fmt.Errorf("delete bucket %s: %w (a bucket with objects goes only with forceDestroy)", r.ID, err)
	}
	return nil
}

type object struct{ c *cloud }

func (o object) put(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	bucket, key := text(r.Inputs, "bucket"), text(r.Inputs, "key")
	src := r.Inputs["source"]
	switch {
	case src.IsAsset() && src.AssetValue().IsPath():
		return res, o.c.objects.PutFile(ctx, bucket, key, src.AssetValue().Path)
	case src.IsAsset() && src.AssetValue().IsText():
		return res, o.c.objects.Put(ctx, bucket, key, []byte(src.AssetValue().Text))
	case text(r.Inputs, "content") != "":
		return res, o.c.objects.Put(ctx, bucket, key, []byte(text(r.Inputs, "content")))
	}
	return res, fmt.Errorf("object %s: source or content must be given", key)
}

func (o object) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	return o.put(ctx, r)
}
func (o object) Update(ctx context.Context, r provider.Request) (provider.Result, error) {
	return o.put(ctx, r)
}

func (o object) Read(ctx context.Context, r provider.Request) (provider.Result, bool, error) {
	there, err := o.c.objects.Exists(ctx, text(r.Outputs, "bucket"), text(r.Outputs, "key"))
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, there, err
}

func (o object) Delete(ctx context.Context, r provider.Request) error {
	bucket, key := text(r.Outputs, "bucket"), text(r.Outputs, "key")
	_, err := o.c.objects.Client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return err
}

type vpc struct{ provider.Recording }

func (vpc) Create(_ context.Context, r provider.Request) (provider.Result, error) {
	if cidr := text(r.Inputs, "cidrBlock"); cidr != network {
		return provider.Result{}, fmt.Errorf("cidrBlock: %q: the local cloud's network is %s; set network.cidr of the stack to it", cidr, network)
	}
	return r.Recorded()
}

type subnet struct {
	provider.Recording
	c *cloud
}

func (s subnet) Create(_ context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	return res, s.c.ec2.PutSubnet(res.ID, text(r.Inputs, "cidrBlock"))
}

func (s subnet) Delete(_ context.Context, r provider.Request) error {
	return s.c.ec2.DeleteSubnet(r.ID)
}

type networkInterface struct {
	provider.Recording
	c *cloud
}

func (n networkInterface) Create(_ context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	return res, n.c.ec2.PutInterface(res.ID, text(res.Outputs, "privateIp"))
}

func (n networkInterface) Delete(_ context.Context, r provider.Request) error {
	return n.c.ec2.DeleteInterface(r.ID)
}

type parameter struct {
	provider.Recording
	c *cloud
}

func (p parameter) put(r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	p.c.ec2.PutParameter(text(r.Inputs, "name"), text(r.Inputs, "value"))
	return res, nil
}

func (p parameter) Create(_ context.Context, r provider.Request) (provider.Result, error) {
	return p.put(r)
}

func (p parameter) Update(_ context.Context, r provider.Request) (provider.Result, error) {
	return p.put(r)
}

// Read puts the value back after a restart: the engine keeps it encrypted, the
// local cloud only in memory.
func (p parameter) Read(_ context.Context, r provider.Request) (provider.Result, bool, error) {
	if value := text(r.Outputs, "value"); value != "" && !p.c.ec2.HasParameter(r.ID) {
		p.c.ec2.PutParameter(r.ID, value)
	}
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}

func (p parameter) Delete(_ context.Context, r provider.Request) error {
	p.c.ec2.DeleteParameter(r.ID)
	return nil
}

type instance struct {
	provider.Recording
	c *cloud
}

func (i instance) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	l := ec2.Launch{ID: res.ID, Type: text(r.Inputs, "instanceType"), UserData: text(r.Inputs, "userData")}
	if encoded := text(r.Inputs, "userDataBase64"); encoded != "" {
		l.UserData, l.Base64 = encoded, true
	}
	if list := r.Inputs["networkInterfaces"]; list.IsArray() && len(list.ArrayValue()) > 0 && list.ArrayValue()[0].IsObject() {
		l.InterfaceID = text(list.ArrayValue()[0].ObjectValue(), "networkInterfaceId")
	}
	if err := i.c.ec2.Run(ctx, l); err != nil {
		return res, err
	}
	// A node that replaces one finds the workloads on its volume.
	go func() {
		ctx := context.WithoutCancel(ctx)
		if i.c.ec2.Booted(ctx, res.ID) == nil {
			i.c.restoreWorkloads(ctx)
		}
	}()
	return res, nil
}

func (i instance) Read(_ context.Context, r provider.Request) (provider.Result, bool, error) {
	_, up := i.c.region.Machine(r.ID)
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, up, nil
}

func (i instance) Delete(ctx context.Context, r provider.Request) error {
	if err := provider.Refusal(r); err != nil {
		return err
	}
	i.c.kube.Evict(ctx) // pods end with their node
	return i.c.ec2.Terminate(r.ID)
}

type volume struct {
	provider.Recording
	c *cloud
}

func (v volume) Delete(_ context.Context, r provider.Request) error {
	if v.c.ec2.Idle() { // the node has gone before its volume: Kubernetes' objects go with it
		if err := v.c.kube.Forget(); err != nil {
			return err
		}
	}
	return v.c.ec2.DeleteVolume(r.ID)
}

type attachment struct {
	provider.Recording
	c *cloud
}

func (a attachment) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	return res, a.c.ec2.Attach(ctx, text(r.Inputs, "volumeId"), text(r.Inputs, "instanceId"))
}

func (a attachment) Delete(_ context.Context, r provider.Request) error {
	return a.c.ec2.Detach(text(r.Outputs, "volumeId"))
}

type cluster struct{ c *cloud }

func (k cluster) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	id, err := k.c.clusters.Create(ctx, catalog.Plain(r.Inputs))
	if err != nil {
		return provider.Result{}, err
	}
	return k.outputs(res, id)
}

func (k cluster) outputs(res provider.Result, id string) (provider.Result, error) {
	found, err := k.c.store.Cluster(id)
	if err != nil {
		return res, err
	}
	res.ID = id
	for key, v := range map[string]*string{"arn": found.ClusterArn, "masterPublicDns": found.MasterPublicDnsName} {
		if v != nil {
			res.Outputs[resource.PropertyKey(key)] = resource.NewStringProperty(*v)
		}
	}
	res.Outputs["clusterState"] = resource.NewStringProperty(string(found.Status.State))
	return res, nil
}

func (k cluster) Read(_ context.Context, r provider.Request) (provider.Result, bool, error) {
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, k.c.clusters.Running(r.ID), nil
}

func (k cluster) Update(ctx context.Context, r provider.Request) (provider.Result, error) {
	if err := k.c.clusters.Change(ctx, r.ID, catalog.Plain(r.Inputs)); err != nil {
		return provider.Result{}, err
	}
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	return k.outputs(res, r.ID)
}

func (k cluster) Delete(ctx context.Context, r provider.Request) error {
	err := k.c.clusters.End(ctx, r.ID)
	if errors.Is(err, emrapi.ErrNotFound) {
		return nil
	}
	return err
}

// object8s is any Kubernetes object that something runs for.
type object8s struct {
	c    *cloud
	kind string
}

func (o object8s) apply(ctx context.Context, r provider.Request) (provider.Result, error) {
	res, err := r.Recorded()
	if err != nil {
		return res, err
	}
	raw, err := json.Marshal(catalog.Plain(res.Outputs))
	if err != nil {
		return res, err
	}
	return res, o.c.kube.Apply(ctx, o.kind, raw)
}
func (o object8s) Create(ctx context.Context, r provider.Request) (provider.Result, error) {
	return o.apply(ctx, r)
}
func (o object8s) Update(ctx context.Context, r provider.Request) (provider.Result, error) {
	return o.apply(ctx, r)
}
func (o object8s) Read(_ context.Context, r provider.Request) (provider.Result, bool, error) {
	return provider.Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}
func (o object8s) Delete(ctx context.Context, r provider.Request) error {
	namespace, name, _ := strings.Cut(r.ID, "/")
	return o.c.kube.Delete(ctx, o.kind, namespace, name)
}
