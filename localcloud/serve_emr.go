package localcloud

import (
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
)

// newEMR returns EMR on this region. Its nodes get their addresses from c.ec2. uiAddress
// is where the host reaches the UIs of its clusters.
func (c *cloud) newEMR(uiAddress string) *emr.Service {
	service := &emr.Service{
		Region: c.region, Store: c.store, Objects: c.objects, Applications: c.Applications, JavaHome: c.JavaHome,
		AWSRegion: AWSRegion, AccountID: AccountID, Gateway: networkGateway,
		Credentials: c.roleCredentials, Address: c.ec2.NodeAddress, Expose: c.expose, Clock: clock.RealClock{}, Log: c.log,
		LogDelay: c.LogDelay, EventLogInterval: c.EventLogInterval,
	}
	service.UIs = &persistentui.Service{
		Dir: filepath.Join(c.State, "persistent-uis"), Applications: c.Applications, JavaHome: c.JavaHome,
		Address: uiAddress, Primary: service.Primary, Clock: clock.RealClock{}, Log: c.log,
	}
	return service
}

// newEMRResources returns the resources of EMR. They use its API, as the provider does.
func (c *cloud) newEMRResources() emr.Resources {
	return emr.Resources{API: awsemr.New(awsemr.Options{
		Region: AWSRegion, BaseEndpoint: aws.String("http://" + serviceAddress(portEMR)),
		Credentials: credentials.NewStaticCredentialsProvider(c.credentials.AccessKeyID, c.credentials.SecretAccessKey, ""),
	})}
}
