package record

import (
	"encoding/json"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// grafanaOrg is the organisation that every Grafana begins with.
const grafanaOrg = "1"

func grafanaFillers() map[string]filler {
	withUID := func(more func(d *draft)) filler {
		return func(d *draft) error {
			d.otherwise("uid", random(hexDigits, 14))
			d.otherwise("orgId", grafanaOrg)
			d.identify(grafanaOrg + ":" + d.text("uid"))
			more(d)
			return nil
		}
	}
	return map[string]filler{
		"grafana:oss/folder:Folder": withUID(func(d *draft) {
			d.always("url", d.account.grafanaURL()+"/dashboards/f/"+d.text("uid")+"/"+slug(d.text("title")))
		}),
		"grafana:oss/dataSource:DataSource": withUID(func(d *draft) { d.otherwise("isDefault", false) }),
		"grafana:oss/dashboard:Dashboard":   dashboard,
		"grafana:oss/serviceAccountToken:ServiceAccountToken": func(d *draft) error {
			d.identify(random("123456789", 4))
			d.secret("key", "glsa_"+random(upperDigits, 32))
			d.otherwise("expiration", "")
			d.otherwise("hasExpired", false)
			return nil
		},
	}
}

// dashboard takes uid and URL from the document, as Grafana does.
func dashboard(d *draft) error {
	var doc struct{ UID, Title string }
	if err := json.Unmarshal([]byte(d.text("configJson")), &doc); err != nil {
		return err
	}
	d.otherwise("orgId", grafanaOrg)
	d.identify(grafanaOrg + ":" + doc.UID)
	d.always("uid", doc.UID)
	d.always("url", d.account.grafanaURL()+"/d/"+doc.UID+"/"+slug(doc.Title))
	d.otherwise("dashboardId", 1)
	version := 1.0
	if v, ok := d.r.Outputs["version"]; ok && v.IsNumber() {
		version = v.NumberValue() + 1
	}
	d.out["version"] = resource.NewNumberProperty(version)
	return nil
}

// slug is a title as Grafana writes it in URLs.
func slug(title string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(title)), "-")
}
